// expect: TLE/RE/MLE; all of them die with the test
public class Main {
    public static void main(String[] arguments) {
        System.out.println("ran");
        while (true) {
            try {
                new Thread(() -> { while (true) Thread.onSpinWait(); }).start();
            } catch (OutOfMemoryError refused) { }
        }
    }
}
