import java.io.*;
import java.util.*;

public interface Main {
    static void main(String... arguments) {
        Scanner in = new Scanner(System.in);
        long sum = 0;
        for (int n = in.nextInt(); n > 0; n--) sum += in.nextLong();
        System.out.println(sum);
    }
}
