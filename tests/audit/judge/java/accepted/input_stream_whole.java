import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        String[] words = new String(System.in.readAllBytes()).trim().split("\\s+");
        long sum = 0;
        for (int i = 1; i < words.length; i++) sum += Long.parseLong(words[i]);
        System.out.println(sum);
    }
}
