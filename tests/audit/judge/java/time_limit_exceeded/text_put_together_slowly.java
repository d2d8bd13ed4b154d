import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        int n = (int) in.nval;
        long[] values = new long[n];
        for (int i = 0; i < n; i++) { in.nextToken(); values[i] = (long) in.nval; }
        String text = "";
        for (int i = 0; i < n; i++) for (int j = 0; j < 5; j++) text = values[i] + text;
        long sum = text.length() - text.length();
        for (long value : values) sum += value;
        System.out.println(sum);
    }
}
