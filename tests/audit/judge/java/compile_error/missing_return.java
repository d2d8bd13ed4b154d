public class Main {
    static int one(int n) { if (n > 0) return 1; }
    public static void main(String[] arguments) { System.out.println(one(1)); }
}
