export const USAGE = `usage: portcullis serve [options]
       portcullis explain --url https://HOST:PORT --identity NAME --service NAME [--type dial|bind] [--ca FILE]
       portcullis snapshot --storage sqlite:FILE --to FILE [--force]
       portcullis restore --from FILE --storage sqlite:FILE [--force]
       portcullis migrate --storage STORAGE [--table-prefix TEXT] [--schema NAME] [--dry-run]

Serves a zero-trust network controller over HTTPS until SIGTERM or SIGINT, which let requests in flight finish within
five seconds.
One line on standard output tells when it is ready; everything else goes to standard error.

  --listen HOST:PORT      where to listen; port 0 lets the system choose; default 127.0.0.1:1280
  --advertise HOST:PORT   where clients reach the controller; default: the address of --listen
  --control-listen HOST:PORT     where routers connect; default: the address of --listen, by ALPN ziti-ctrl
  --control-advertise HOST:PORT  where routers reach it; default: --advertise, or the address of --control-listen
  --storage STORAGE       sqlite:FILE, postgres://… or memory; default sqlite:.portcullis/portcullis.sqlite
  --table-prefix TEXT     stands before the names of the tables; default: nothing
  --schema NAME           PostgreSQL schema of the tables, created when missing; default: that of the connection
  --pki DIR               folder of certificates and keys, created when missing; default .portcullis/pki
  --trust-domain NAME     SPIFFE trust domain; default: the one of the certificates, portcullis.internal in new ones
  --compat openziti       be as lenient as deployed controllers where this one is stricter by default
  --oidc off|ISSUERS      no logins by OpenID Connect; or by whose names tokens are issued, with commas between;
                          default: https://HOST:PORT/oidc for the addresses and names of the server
  --cors-origin ORIGIN    lets pages of this origin, such as https://console.example, call the APIs; may be repeated
  --rate-limits LIMITS    off, or NAME=COUNT/SECONDS and NAME=off with commas between; the others keep their defaults:
                          anonymous=60000/60 and passwords-by-address=6000/60 for an address,
                          identity=600000/60 for an identity, passwords-by-username=1200/60 for a username
  --limits LIMITS         NAME=COUNT with commas between; the others keep their defaults: connections=10000 in all,
                          connections-per-address=5000 (half of all), arriving-bytes=33554432 for request bodies
                          until they are whole, unsent-bytes=67108864 for answers until they are read
  --help, --version

Certificates of your own, PEM files, all five instead of --pki:
  --server-cert FILE, --server-key FILE     TLS server certificate with its intermediates, and its key
  --signing-cert FILE, --signing-key FILE   authority that signs client certificates, and its key
  --ca FILE                                 trust bundle that the two lead to
A server certificate that is renewed in its files, with its key, is put in use within seconds, without a restart.

explain asks a running controller whether an identity may dial or bind a service, and prints why in sentences. It logs in
with PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD; --ca is the controller's trust bundle, PEM.

snapshot copies a SQLite storage while it is served; restore puts a copy in place of one that nobody serves. --force
replaces a file that is there. migrate brings the tables to this version; --dry-run prints the SQL instead.

Environment: PORTCULLIS_LISTEN, PORTCULLIS_ADVERTISE, PORTCULLIS_CONTROL_LISTEN, PORTCULLIS_CONTROL_ADVERTISE, PORTCULLIS_STORAGE, PORTCULLIS_TABLE_PREFIX, PORTCULLIS_SCHEMA,
PORTCULLIS_PKI, PORTCULLIS_TRUST_DOMAIN, PORTCULLIS_COMPAT, PORTCULLIS_RATE_LIMITS, PORTCULLIS_LIMITS, PORTCULLIS_OIDC and
PORTCULLIS_CORS_ORIGIN (several with commas between) stand for the options that are not given. PORTCULLIS_ADMIN_USERNAME (4 to 100 characters) and
PORTCULLIS_ADMIN_PASSWORD (5 to 100) create the admin of an empty store; an admin that is there is never changed.

Exit codes: 0 after a stop that was asked for or an answer; 2 for options, files or addresses that cannot be used;
1 for any other failure; 130 or 143 when a second signal ends the process at once.`
