import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        long sum = in.lines().skip(1).flatMap(line -> Arrays.stream(line.trim().split(" ")))
            .filter(word -> !word.isEmpty()).mapToLong(Long::parseLong).sum();
        System.out.println(sum);
    }
}
