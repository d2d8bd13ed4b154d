// expect: blocked: neither the programs of the host nor those of the runtime can be executed
import java.io.*;
import java.nio.file.*;
import java.util.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) { System.out.println("ESCAPED: executed again"); return; }
        System.out.println("ran");
        String java = System.getProperty("java.home") + "/bin/java";
        Path copy = Paths.get("copy");
        try {
            Files.copy(Paths.get(java), copy);
            copy.toFile().setExecutable(true);
        } catch (IOException refused) { }
        List<String[]> commands = List.of(
            new String[] {"/bin/sh", "-c", "echo ESCAPED: sh"}, new String[] {"sh", "-c", "echo ESCAPED: sh"},
            new String[] {"/usr/bin/env"}, new String[] {"/usr/bin/python3", "-c", "print('ESCAPED: python')"},
            new String[] {copy.toAbsolutePath().toString(), "-version"}, new String[] {"./copy", "-version"});
        for (String way : new String[] {"POSIX_SPAWN", "VFORK", "FORK"}) {
            System.setProperty("jdk.lang.Process.launchMechanism", way);
            for (String[] command : commands) {
                try {
                    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
                    String said = new String(process.getInputStream().readAllBytes());
                    System.out.println("ESCAPED: " + command[0] + " by " + way + ": " + said);
                } catch (IOException refused) { }
                try {
                    Runtime.getRuntime().exec(command).waitFor();
                    System.out.println("ESCAPED: " + command[0] + " by exec");
                } catch (IOException refused) { }
            }
        }
        System.out.println("blocked");
    }
}
