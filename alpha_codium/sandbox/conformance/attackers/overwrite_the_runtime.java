// expect: RE; writing to any address ends the runtime only, with its report
import java.lang.reflect.Field;

public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        System.out.flush();
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
        long address = unsafe.allocateMemory(64);
        for (long step = 0; ; step += 4096) unsafe.putLong(address + step, -1L);
    }
}
