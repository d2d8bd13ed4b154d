// expect: blocked or RE; it can end only itself
import java.lang.reflect.*;

public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        System.out.flush();
        for (long pid = 1; pid < 100; pid++)
            ProcessHandle.of(pid).filter(each -> !each.equals(ProcessHandle.current())).ifPresent(ProcessHandle::destroyForcibly);
        try {
            // The check that protects itself is in Java only.
            Class<?> handle = Class.forName("java.lang.ProcessHandleImpl");
            Method destroy = handle.getDeclaredMethod("destroy0", long.class, long.class, boolean.class);
            destroy.setAccessible(true);
            for (long pid : new long[] {1, 2, -1}) destroy.invoke(null, pid, -1L, true);
        } catch (ReflectiveOperationException | RuntimeException refused) { }
        System.out.println("blocked");
        System.out.flush();
        sun.misc.Signal.raise(new sun.misc.Signal("TERM"));
        Thread.sleep(1000);
    }
}
