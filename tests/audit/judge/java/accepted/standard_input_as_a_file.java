import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        try (BufferedReader in = new BufferedReader(new FileReader("/dev/stdin"))) {
            in.readLine();
            long sum = 0;
            for (String word : in.readLine().trim().split(" ")) if (!word.isEmpty()) sum += Long.parseLong(word);
            System.out.println(sum);
        }
    }
}
