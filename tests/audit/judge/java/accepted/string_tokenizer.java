import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        in.readLine();
        long sum = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            StringTokenizer words = new StringTokenizer(line);
            while (words.hasMoreTokens()) sum += Integer.parseInt(words.nextToken());
        }
        System.out.println(sum);
    }
}
