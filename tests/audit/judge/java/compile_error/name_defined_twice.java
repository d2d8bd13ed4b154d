public class Main {
    public static void main(String[] arguments) {
        int n = 1;
        int n = 2;
        System.out.println(n);
    }
}
