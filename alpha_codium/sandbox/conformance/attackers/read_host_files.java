// expect: blocked: no file of the host but the runtime's, no environment, no other process
import java.io.*;
import java.nio.channels.*;
import java.nio.file.*;

public class Main {
    static final String[] PATHS = {
        "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/tmp/gencode-canary/secret.txt", "/proc/1/environ",
        "/proc/1/mem", "/proc/1/root/etc/passwd", "/proc/kcore", "/sys/kernel", "/dev/mem", "/dev/vda", "/home", "/srv",
        "/var/run/docker.sock", "../../../../etc/passwd", "/proc/self/root/etc/passwd", "/proc/self/cwd/../../etc/passwd",
        "/usr/bin/python3", "/bin/sh",
    };

    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        for (String path : PATHS) {
            try (FileChannel file = FileChannel.open(Paths.get(path))) {
                System.out.println("ESCAPED: " + path + " can be opened");
            } catch (IOException | SecurityException refused) { }
            try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
                System.out.println("ESCAPED: " + path + " can be written");
            } catch (IOException refused) { }
            String[] names = new File(path).list();
            if (names != null) System.out.println("ESCAPED: " + path + " can be listed: " + names.length);
        }
        for (String name : new String[] {"PYTHONPATH", "GENCODE_HOME", "OPENAI_API_KEY", "XAUTHORITY"})
            if (System.getenv(name) != null) System.out.println("ESCAPED: " + name);
        // In /proc it has another number than for itself.
        String self = Files.readSymbolicLink(Paths.get("/proc/self")).toString();
        ProcessHandle.allProcesses().map(ProcessHandle::toString).filter(number -> !number.equals(self))
            .forEach(number -> System.out.println("ESCAPED: process " + number));
        System.out.println("blocked");
    }
}
