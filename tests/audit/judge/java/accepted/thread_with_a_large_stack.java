import java.io.*;
import java.util.*;

public class Main {
    static long[] values;

    static long sum(int from) { return from == values.length ? 0 : values[from] + sum(from + 1); }

    public static void main(String[] arguments) throws Exception {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        int n = (int) in.nval;
        long[] values = new long[n];
        for (int i = 0; i < n; i++) { in.nextToken(); values[i] = (long) in.nval; }
        Main.values = values;
        Thread thread = new Thread(null, () -> System.out.println(sum(0)), "solve", 1 << 28);
        thread.start();
        thread.join();
    }
}
