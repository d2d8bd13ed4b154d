import java.io.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.zip.*;
import javax.tools.*;

/**
 * Compiles one program after the other. Its arguments are options of javac.
 *
 * It reads the name and the text of a file, each behind its length, and writes an archive of the classes, which is empty
 * if the program doesn't compile. Nothing but classes of the runtime stays from one program to the next.
 */
class Resident {
    static class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    static class Made extends SimpleJavaFileObject {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Made(String name) {
            super(URI.create("made:///" + name), Kind.CLASS);
        }

        @Override
        public OutputStream openOutputStream() {
            return bytes;
        }
    }

    static class Files extends ForwardingJavaFileManager<StandardJavaFileManager> {
        final Map<String, Made> made = new TreeMap<>();

        Files(StandardJavaFileManager system) {
            super(system);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location where, String name, JavaFileObject.Kind kind, FileObject of) {
            return made.computeIfAbsent(name.replace('.', '/') + kind.extension, Made::new);
        }

        byte[] archive() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ZipOutputStream archive = new ZipOutputStream(bytes)) {
                archive.setLevel(Deflater.NO_COMPRESSION);
                for (Map.Entry<String, Made> each : made.entrySet()) {
                    archive.putNextEntry(new ZipEntry(each.getKey()));
                    each.getValue().bytes.writeTo(archive);
                }
            }
            return bytes.toByteArray();
        }
    }

    public static void main(String[] options) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        while (true) {
            byte[] archive = compiled(new Source(text(in), text(in)), List.of(options));
            out.writeInt(archive.length);
            out.write(archive);
            out.flush();
        }
    }

    static String text(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
    }

    static byte[] compiled(Source source, List<String> options) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (Files files = new Files(compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8))) {
            Writer quiet = Writer.nullWriter();
            boolean good = compiler.getTask(quiet, files, message -> { }, options, null, List.of(source)).call();
            return good ? files.archive() : new byte[0];
        }
    }
}
