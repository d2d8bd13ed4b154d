import java.io.*;
import java.util.*;

public class Main {
    static final byte[] BUFFER = new byte[1 << 16];
    static int length, position;

    static int read(DataInputStream in) throws IOException {
        if (position == length) { length = in.read(BUFFER, 0, BUFFER.length); position = 0; }
        return length <= 0 ? -1 : BUFFER[position++];
    }

    static long next(DataInputStream in) throws IOException {
        int c = read(in);
        while (c != '-' && (c < '0' || c > '9')) c = read(in);
        boolean negative = c == '-';
        if (negative) c = read(in);
        long value = 0;
        for (; c >= '0' && c <= '9'; c = read(in)) value = 10 * value + c - '0';
        return negative ? -value : value;
    }

    public static void main(String[] arguments) throws Exception {
        DataInputStream in = new DataInputStream(System.in);
        int n = (int) next(in);
        long sum = 0;
        for (int i = 0; i < n; i++) sum += next(in);
        System.out.println(sum);
    }
}
