import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int n = Integer.parseInt(in.readLine().trim());
        String line = in.readLine();
        long sum = 0;
        if (n > 0) for (String word : line.trim().split(" +")) sum += Long.parseLong(word);
        System.out.println(sum);
    }
}
