import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt();
        long sum = 0;
        for (int i = 0; i < n; i++) sum += in.nextInt();
        System.out.println(sum + in.nextInt());
    }
}
