import java.io.*;
import java.util.*;

class Adder {
    private long sum;
    void add(long value) { sum += value; }
    long sum() { return sum; }
}

class Runner {
    public static void main(String[] arguments) {
        Scanner in = new Scanner(System.in);
        Adder adder = new Adder();
        for (int n = in.nextInt(); n > 0; n--) adder.add(in.nextLong());
        System.out.println(adder.sum());
    }
}
