// expect: finishes; what it wrote is gone, and neither the program nor the runtime is changed
import java.io.*;
import java.nio.file.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        if (Files.exists(Paths.get("left"))) System.out.println("ESCAPED: a file of the test before");
        String own = System.getProperty("java.class.path"), home = System.getProperty("java.home");
        for (String path : new String[] {"left", "/tmp/left", "/dev/shm/left", "/left", "/var/tmp/left", "/srv/left"}) {
            try {
                Files.write(Paths.get(path), new byte[1000]);
            } catch (IOException refused) { }
        }
        for (String path : new String[] {own, own + ".new", home + "/lib/modules", home + "/lib/own", "/etc/own"}) {
            try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
                System.out.println("ESCAPED: " + path + " can be written");
            } catch (IOException refused) { }
        }
        for (int i = 0; i < 3000; i++) {
            try {
                Files.createDirectories(Paths.get("many", Integer.toString(i)));
            } catch (IOException refused) {
                break;
            }
        }
    }
}
