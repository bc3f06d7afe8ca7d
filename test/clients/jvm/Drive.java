import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import org.openziti.Ziti;
import org.openziti.ZitiContext;

/** Drives the OpenZiti SDK for the JVM: Drive JWT-FILE SERVICE. Each line on standard output is one thing that happened. */
public class Drive {
  public static void main(String[] arguments) throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    keys.load(null, null);
    Ziti.removeContext(Ziti.enroll(keys, Files.readAllBytes(Path.of(arguments[0])), "jvm"));
    System.out.println("enrolled");

    ZitiContext context = Ziti.init(keys, false).get(0);
    for (int tries = 0; tries < 50 && !context.getStatus().toString().contains("Active"); tries++) Thread.sleep(200);
    System.out.println("status " + context.getStatus());
    System.out.println("identity " + context.getId().getName());
    // Waits until the list of services has come.
    System.out.println("service " + context.getService(arguments[1]).getName());
    String url = context.enrollMFAAsync().toCompletableFuture().get(20, TimeUnit.SECONDS).getProvisioningUrl();
    System.out.println("mfa " + url.substring(0, url.indexOf('?')));
    try {
      context.dial(arguments[1]);
    } catch (Exception failure) {
      System.out.println("dial " + failure.getCause().getMessage());
    }
    System.exit(0);
  }
}
