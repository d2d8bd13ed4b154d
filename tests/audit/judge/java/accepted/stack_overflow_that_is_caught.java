import java.io.*;
import java.util.*;

public class Main {
    static int endless(int depth) { return endless(depth + 1) + 1; }

    public static void main(String[] arguments) throws Exception {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        int n = (int) in.nval;
        long[] values = new long[n];
        for (int i = 0; i < n; i++) { in.nextToken(); values[i] = (long) in.nval; }
        long sum = 0;
        for (long value : values) sum += value;

        Thread thread = new Thread(null, () -> {
            try {
                endless(0);
            } catch (StackOverflowError error) {
                System.err.println("caught");
            }
        }, "shallow", 1 << 18);
        thread.start();
        thread.join();
        System.out.println(sum);
    }
}
