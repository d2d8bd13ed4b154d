import java.io.*;
import java.util.*;

public class Main {
    static abstract class Visitor<T extends Comparable<T>> {
        abstract void visit(T value);
        class Counter { int count; }
    }

    static class Main2 {
        public static void main(String[] arguments) { System.out.println("not this one"); }
    }

    public static void main(String[] arguments) {
        Scanner in = new Scanner(System.in);
        long[] sum = {0};
        Visitor<Long> visitor = new Visitor<>() {
            final Counter counter = new Counter();
            void visit(Long value) { counter.count++; sum[0] += value; }
        };
        for (int n = in.nextInt(); n > 0; n--) visitor.visit(in.nextLong());
        System.out.println(sum[0]);
    }
}
