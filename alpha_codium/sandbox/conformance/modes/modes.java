import java.io.*;
import java.net.*;
import java.util.*;

class Files {
    static boolean canRead(String path) { try (FileReader file = new FileReader(path)) { return true; } catch (IOException e) { return false; } }
    static boolean canWrite(String path) { try (FileWriter file = new FileWriter(path)) { return true; } catch (IOException e) { return false; } }
}

/* The class to run isn't the first one, nor is it called Main: class Decoy { */
public class Modes {
    static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
    static boolean connected() { try (Socket socket = new Socket("127.0.0.1", 80)) { return true; } catch (IOException e) { return false; } }

    public static void main(String[] arguments) {
        Scanner in = new Scanner(System.in);
        switch (in.next()) {
            case "add": long sum = 0; while (in.hasNextLong()) sum += in.nextLong(); System.out.println(sum); break;
            case "exit": System.out.println("leaving"); System.exit(3);
            case "fail": throw new IllegalStateException("failed");
            case "loop": for (long i = 0; ; i++) if (i == -1) System.out.println(i);
            case "hoard": for (List<byte[]> all = new ArrayList<>(); ; ) all.add(new byte[1 << 20]);
            case "flood": while (true) System.out.println("all work and no play makes a program dull");
            case "deep": System.out.println(deep(100000)); break;
            case "connect": System.out.println(connected() ? "connected" : "refused"); break;
            case "read": System.out.println(Files.canRead(in.next()) ? "read" : "refused"); break;
            case "write": System.out.println(Files.canWrite("/program/x") || Files.canWrite("/etc/x") ? "written" : "refused"); break;
            case "leave": System.out.println(Files.canWrite("left") && Files.canWrite("/tmp/left") ? "left" : "refused"); break;
            case "look": System.out.println(Files.canRead("left") || Files.canRead("/tmp/left") ? "found" : "nothing"); break;
        }
    }
}
