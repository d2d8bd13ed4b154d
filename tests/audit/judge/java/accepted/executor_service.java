import java.io.*;
import java.util.*;
import java.util.concurrent.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        int n = (int) in.nval;
        long[] values = new long[n];
        for (int i = 0; i < n; i++) { in.nextToken(); values[i] = (long) in.nval; }

        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<Long>> parts = new ArrayList<>();
        for (int part = 0; part < 4; part++) {
            int first = part;
            parts.add(threads.submit(() -> {
                long sum = 0;
                for (int i = first; i < n; i += 4) sum += values[i];
                return sum;
            }));
        }
        long sum = 0;
        for (Future<Long> part : parts) sum += part.get();
        threads.shutdown();
        System.out.println(sum);
    }
}
