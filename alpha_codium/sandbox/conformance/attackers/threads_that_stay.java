// expect: TLE; hooks and threads that never end are ended
public class Main {
    static void burn() {
        while (true) {
            try {
                Thread.sleep(1);
            } catch (Throwable ignored) { }
        }
    }

    public static void main(String[] arguments) {
        System.out.println("ran");
        for (int i = 0; i < 4; i++) Runtime.getRuntime().addShutdownHook(new Thread(Main::burn));
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> burn());
        new Thread(Main::burn).start();
        throw new IllegalStateException("main ends");
    }
}
