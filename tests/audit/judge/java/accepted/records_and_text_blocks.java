import java.io.*;
import java.util.*;

public class Main {
    record Total(long sum) {
        Total plus(long value) { return new Total(sum + value); }
    }

    sealed interface Step permits Add, Stop {}
    record Add(long value) implements Step {}
    record Stop() implements Step {}

    public static void main(String[] arguments) {
        var in = new Scanner(System.in);
        var total = new Total(0);
        var left = in.nextInt();
        while (true) {
            Step step = left-- > 0 ? new Add(in.nextLong()) : new Stop();
            if (step instanceof Add add) total = total.plus(add.value());
            else break;
        }
        var text = """
            %d
            """;
        System.out.print(switch (text.length()) { case 3 -> text.formatted(total.sum()); default -> "?"; });
    }
}
