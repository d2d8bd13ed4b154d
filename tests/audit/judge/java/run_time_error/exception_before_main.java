import java.io.*;
import java.util.*;

public class Main {
    static long sum = Long.parseLong("");

    public static void main(String[] arguments) throws Exception {
        System.out.println(sum);
    }
}
