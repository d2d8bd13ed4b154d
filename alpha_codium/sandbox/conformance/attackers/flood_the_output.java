// expect: OLE/TLE; many threads print without end
public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println("ran");
        byte[] block = new byte[1 << 16];
        for (int i = 0; i < 4; i++) new Thread(() -> { while (true) System.out.write(block, 0, block.length); }).start();
    }
}
