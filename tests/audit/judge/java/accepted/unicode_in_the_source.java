import java.io.*;
import java.util.*;

/* "public class Wrong {" ends nowhere: class Decoy { */
public class Größe {
    // \u000a static int zeilen = 0;
    static final String SATZ = "} class Nein { \" // \u0022 + "";

    public static void main(String[] arguments) {
        Scanner ein = new Scanner(System.in);
        long größe = zeilen;
        for (int zähler = ein.nextInt(); zähler > 0; zähler--) größe += ein.nextLong();
        char geschweift = '{';
        System.out.println(größe);
    }
}
