import java.io.*;
import java.util.*;

enum Task {
    SUM { long join(long a, long b) { return a + b; } };

    abstract long join(long a, long b);

    public static void main(String[] arguments) {
        Scanner in = new Scanner(System.in);
        long sum = 0;
        for (int n = in.nextInt(); n > 0; n--) sum = SUM.join(sum, in.nextLong());
        System.out.println(sum);
    }
}
