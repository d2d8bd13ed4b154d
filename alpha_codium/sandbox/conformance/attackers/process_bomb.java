// expect: blocked or TLE/RE/MLE; all of them die with the test
import java.io.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        String java = System.getProperty("java.home") + "/bin/java";
        for (int i = 0; i < 200; i++) {
            try {
                new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Main").start();
            } catch (IOException refused) { }
        }
        System.out.println("blocked");
    }
}
