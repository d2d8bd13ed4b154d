// expect: blocked: no socket of any kind
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.channels.*;
import java.nio.file.*;

public class Main {
    interface Attempt { void run() throws Exception; }

    static void refused(String what, Attempt attempt) {
        try {
            attempt.run();
            System.out.println("ESCAPED: " + what);
        } catch (Throwable refused) { }
    }

    public static void main(String[] arguments) {
        System.out.println("ran");
        refused("a server", () -> new ServerSocket(0).close());
        refused("a connection", () -> new Socket("127.0.0.1", 80).close());
        refused("datagrams", () -> new DatagramSocket().close());
        refused("a channel", () -> SocketChannel.open(new InetSocketAddress("10.0.0.1", 80)).close());
        refused("a server's channel", () -> ServerSocketChannel.open().bind(new InetSocketAddress(0)).close());
        refused("a Unix socket", () -> ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of("own")).close());
        refused("HTTP", () -> new URL("http://127.0.0.1/").openStream().close());
        refused("a client of HTTP", () -> HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create("http://127.0.0.1/")).build(), HttpResponse.BodyHandlers.ofString()));
        refused("names", () -> InetAddress.getByName("example.com").isReachable(10));
        System.out.println("blocked");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
