import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Arrays;
import org.openziti.Ziti;
import org.openziti.ZitiAddress;
import org.openziti.ZitiConnection;
import org.openziti.ZitiContext;

/**
 * Carries data by the OpenZiti SDK for the JVM: Carry JWT-FILE dial|tick|host SERVICE. `dial` sends 300,000 bytes and prints whether
 * they came back as they were; `tick` sends a little ten times a second and prints a line for each that came back; `host` sends
 * everything back and prints `listening`. Enrolls once: the keys stay in a file.
 */
public class Carry {
  /** The SDK throws for a buffer that is smaller than what came. */
  private static final int ROOM = 1 << 18;

  public static void main(String[] arguments) throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    Path kept = Path.of(arguments[0].replace(".jwt", ".p12"));
    if (Files.exists(kept)) {
      try (InputStream input = Files.newInputStream(kept)) {
        keys.load(input, new char[0]);
      }
    } else {
      keys.load(null, null);
      Ziti.removeContext(Ziti.enroll(keys, Files.readAllBytes(Path.of(arguments[0])), "jvm"));
      try (OutputStream output = Files.newOutputStream(kept)) {
        keys.store(output, new char[0]);
      }
    }
    ZitiContext context = Ziti.init(keys, false).get(0);
    for (int tries = 0; tries < 50 && !context.getStatus().toString().contains("Active"); tries++) Thread.sleep(200);
    context.getService(arguments[2]);
    switch (arguments[1]) {
      case "host" -> host(context, arguments[2]);
      case "tick" -> tick(context, arguments[2]);
      default -> dial(context, arguments[2]);
    }
    System.exit(0);
  }

  private static void tick(ZitiContext context, String service) throws Exception {
    ZitiConnection connection = context.dial(service);
    byte[] room = new byte[ROOM];
    while (true) {
      connection.getOutputStream().write("tick".getBytes());
      if (connection.getInputStream().read(room) < 0) throw new IllegalStateException("the connection is over");
      System.out.println("tick");
      Thread.sleep(100);
    }
  }

  private static void dial(ZitiContext context, String service) throws Exception {
    ZitiConnection connection = context.dial(service);
    byte[] sent = new byte[300_000];
    for (int at = 0; at < sent.length; at++) sent[at] = (byte) (at * 7 + at / 251);
    Thread writer = new Thread(() -> {
      try {
        connection.getOutputStream().write(sent);
      } catch (Exception failure) {
        failure.printStackTrace();
      }
    });
    writer.start();
    ByteArrayOutputStream received = new ByteArrayOutputStream();
    InputStream input = connection.getInputStream();
    byte[] room = new byte[ROOM];
    while (received.size() < sent.length) {
      int count = input.read(room);
      if (count < 0) break;
      received.write(room, 0, count);
    }
    System.out.println(Arrays.equals(received.toByteArray(), sent) ? "same" : received.size() + " bytes");
    connection.close();
  }

  private static void host(ZitiContext context, String service) throws Exception {
    AsynchronousServerSocketChannel server = context.openServer();
    server.bind(new ZitiAddress.Bind(service));
    System.out.println("listening");
    while (true) {
      AsynchronousSocketChannel connection = server.accept().get();
      new Thread(() -> sendBack(connection)).start();
    }
  }

  private static void sendBack(AsynchronousSocketChannel connection) {
    try {
      ByteBuffer buffer = ByteBuffer.allocate(ROOM);
      while (connection.read(buffer).get() >= 0) {
        buffer.flip();
        while (buffer.hasRemaining()) connection.write(buffer).get();
        buffer.clear();
      }
      connection.close();
    } catch (Exception failure) {
      failure.printStackTrace();
    }
  }
}
