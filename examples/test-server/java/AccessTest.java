import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Tests what a device may do, against a throwaway controller: {@code java AccessTest.java}. */
public class AccessTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  public static void main(String[] arguments) throws Exception {
    String command = System.getenv().getOrDefault("PORTCULLIS", "npx portcullis");
    List<String> words = new ArrayList<>(Arrays.asList(command.split(" ")));
    String here = System.getProperty("user.dir");
    words.addAll(List.of("test-server", "--model", Path.of(here, "network.yaml").toString()));
    // It ends when its standard input is closed, or when this process is gone.
    Process process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (var stdin = process.getOutputStream(); var stdout = process.inputReader()) {
      new AccessTest(stdout.readLine()).run();
    }
    System.out.println("passed");
  }

  private final String facts;
  private final String api;

  private AccessTest(String facts) {
    this.facts = facts;
    this.api = text(facts, "url") + "/edge/client/v1";
  }

  private void run() throws Exception {
    HttpClient laptop = enroll(text(facts, "laptop"));
    String login = ask(laptop, "POST", api + "/authenticate?method=cert", "", "application/json", "{}").body();
    String session = text(login, "token");
    HttpClient control = HttpClient.newHttpClient();
    String services = api + "/services";

    String seen = ask(laptop, "GET", services, session, "application/json", "").body();
    check(seen.contains("\"wiki\"") && !seen.contains("\"payroll\""), "the laptop sees " + seen);

    String fault = "{\"status\": 503, \"route\": \"GET /services\"}";
    ask(control, "POST", text(facts, "control") + "/faults", "", "application/json", fault);
    int faulty = ask(laptop, "GET", services, session, "application/json", "").statusCode();
    check(faulty == 503, "the fault is answered " + faulty);

    ask(control, "POST", text(facts, "control") + "/clock", "", "application/json", "{\"elapseMs\": 1860000}");
    int late = ask(laptop, "GET", services, session, "application/json", "").statusCode();
    check(late == 401, "after 31 minutes the session answers " + late);
  }

  /** Makes a key, has it certified by an invitation, and answers a client that shows the certificate. */
  private HttpClient enroll(String invitation) throws Exception {
    String claims = new String(Base64.getUrlDecoder().decode(invitation.split("\\.")[1]));
    Path folder = Files.createTempDirectory("laptop");
    String store = folder.resolve("laptop.p12").toString();
    keytool("-genkeypair", "-keystore", store, "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=laptop");
    String request = folder.resolve("request.pem").toString();
    keytool("-certreq", "-keystore", store, "-file", request);
    String url = api + "/enroll?method=ott&token=" + text(claims, "jti");
    String body = Files.readString(Path.of(request)).replace("NEW CERTIFICATE REQUEST", "CERTIFICATE REQUEST");
    String answer = ask(client(null), "POST", url, "", "application/x-pem-file", body).body();
    KeyStore keys = KeyStore.getInstance(Path.of(store).toFile(), PASSWORD);
    keys.setKeyEntry("mykey", keys.getKey("mykey", PASSWORD), PASSWORD, certificates(text(answer, "cert")));
    return client(keys);
  }

  private static void keytool(String... arguments) throws Exception {
    List<String> words = new ArrayList<>(List.of("keytool", "-storepass", new String(PASSWORD)));
    words.addAll(1, Arrays.asList(arguments));
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    check(process.waitFor() == 0, said);
  }

  /** Trusts the controller, and shows the certificate of a store where there is one. */
  private HttpClient client(KeyStore keys) throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    int count = 0;
    for (Certificate authority : certificates(text(facts, "ca"))) {
      trusted.setCertificateEntry("ca" + count++, authority);
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    own.init(keys, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
    return HttpClient.newBuilder().sslContext(context).build();
  }

  private static Certificate[] certificates(String pem) throws Exception {
    var factory = CertificateFactory.getInstance("X.509");
    return factory.generateCertificates(new ByteArrayInputStream(pem.getBytes())).toArray(new Certificate[0]);
  }

  private static HttpResponse<String> ask(
      HttpClient client, String method, String url, String session, String mediaType, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(url)).header("content-type", mediaType);
    if (!session.isEmpty()) request.header("zt-session", session);
    var content = body.isEmpty() ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
    return client.send(request.method(method, content).build(), HttpResponse.BodyHandlers.ofString());
  }

  /** A text in JSON by the name of its member: enough for these answers, and no library. */
  private static String text(String json, String member) {
    var found = Pattern.compile("\"" + member + "\":\\s*\"((?:[^\"\\\\]++|\\\\.)*+)\"").matcher(json);
    check(found.find(), "there is no " + member + " in " + json);
    return found.group(1).replace("\\n", "\n").replace("\\/", "/");
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) throw new AssertionError(otherwise);
  }
}
