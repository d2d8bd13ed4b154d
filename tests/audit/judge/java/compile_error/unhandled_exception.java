import java.io.*;

public class Main {
    public static void main(String[] arguments) {
        System.out.println(new BufferedReader(new InputStreamReader(System.in)).readLine());
    }
}
