// expect: MLE/RE/TLE; what is outside of the heap counts, too
import java.lang.reflect.Field;

public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe) field.get(null);
        for (long size = 16 << 20; ; ) unsafe.setMemory(unsafe.allocateMemory(size), size, (byte) 1);
    }
}
