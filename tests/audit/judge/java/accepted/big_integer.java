import java.io.*;
import java.math.BigInteger;

public class Main {
    public static void main(String[] arguments) throws Exception {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        int n = (int) in.nval;
        long[] values = new long[n];
        for (int i = 0; i < n; i++) { in.nextToken(); values[i] = (long) in.nval; }
        BigInteger sum = BigInteger.ZERO;
        for (long value : values) sum = sum.add(BigInteger.valueOf(value));
        System.out.println(sum);
    }
}
