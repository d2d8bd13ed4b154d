import java.io.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new FileReader("input.txt"));
        System.out.println(in.readLine());
    }
}
