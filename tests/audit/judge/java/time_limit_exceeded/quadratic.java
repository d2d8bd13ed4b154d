import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        int n = (int) in.nval;
        long[] values = new long[n];
        for (int i = 0; i < n; i++) { in.nextToken(); values[i] = (long) in.nval; }

        long sum = 0;
        for (int i = 0; i < n; i++) {
            long before = 0;
            for (int j = 0; j < i; j++) before = before * 31 % 1_000_003 + values[j] % 7;
            sum += before == -1 ? 0 : values[i];
        }
        System.out.println(sum);
    }
}
