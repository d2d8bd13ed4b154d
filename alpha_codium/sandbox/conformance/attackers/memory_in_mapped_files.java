// expect: MLE/RE/OLE/TLE; mapped files and dumps of the heap are limited
import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.util.*;
import javax.management.ObjectName;

public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        try {
            ObjectName name = new ObjectName("com.sun.management:type=HotSpotDiagnostic");
            Object[] values = {new File("heap.hprof").getAbsolutePath(), false};
            ManagementFactory.getPlatformMBeanServer().invoke(name, "dumpHeap", values, new String[] {"java.lang.String", "boolean"});
        } catch (Exception refused) { }
        List<MappedByteBuffer> all = new ArrayList<>();
        for (int number = 0; ; number++) {
            RandomAccessFile file = new RandomAccessFile("mapped" + number, "rw");
            MappedByteBuffer memory = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 8 << 20);
            while (memory.hasRemaining()) memory.putLong(1);
            all.add(memory);
        }
    }
}
