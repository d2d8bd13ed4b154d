// expect: blocked: no library that a program has written is loaded
import java.io.*;
import java.nio.file.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        Path library = Paths.get(System.getProperty("java.home"), "lib", "libprefs.so");
        for (String folder : new String[] {".", "/tmp", "/dev/shm"}) {
            Path copy = Paths.get(folder, "libown.so").toAbsolutePath();
            try {
                Files.copy(library, copy);
            } catch (IOException refused) {
                continue;
            }
            try {
                System.load(copy.toString());
                System.out.println("ESCAPED: loaded " + copy);
            } catch (UnsatisfiedLinkError refused) { }
        }
        System.out.println("blocked");
    }
}
