import java.io.*;
import java.util.*;

public class Main {
    public void main(String[] arguments) {
        System.out.println(new Scanner(System.in).nextInt());
    }
}
