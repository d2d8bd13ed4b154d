public class Main {
    public static void main(String[] arguments) {
        while (true) {}
        System.out.println(6);
    }
}
