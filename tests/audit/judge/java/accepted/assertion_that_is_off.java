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
        for (long value : values) sum += value;
        assert sum == Long.MIN_VALUE : sum;
        System.out.println(sum);
    }
}
