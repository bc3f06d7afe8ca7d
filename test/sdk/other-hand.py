"""One end of a connection by DirectE2EE mode 2, from the words of the issues of OpenZiti alone: openziti/ziti 4172,
openziti/sdk-golang 979 and 980, openziti/ziti-sdk-c 1101 and 1102.

The bytes of the circuit are those of standard input and output. The first line of the input is JSON: role (dialer or host), circuitId,
token, identityId, cert and key (files), roots (a file), issuers (a list of issuers, each with its keys). After the handshake and all
checks the dialer says its greeting, the host answers it, and both end. The last line on standard error is JSON.
"""
import base64, hashlib, json, os, re, ssl, sys, time

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


class Refused(Exception):
    pass


def require(isTrue, what):
    if not isTrue:
        raise Refused(what)


def bytesOf(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def numberOf(text):
    return int.from_bytes(bytesOf(text), "big")


def added(one, other):
    """Adds two points of P-256; None is the point at infinity."""
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % P == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) if one == other else (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def times(factor, point):
    result = None
    while factor:
        if factor & 1:
            result = added(result, point)
        point, factor = added(point, point), factor >> 1
    return result


def isSigned(key, alg, signature, content):
    """Whether a JSON web key signed something, by ES256 or RS256."""
    digest = hashlib.sha256(content).digest()
    if alg == "ES256" and key["kty"] == "EC" and key["crv"] == "P-256":
        r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
        if len(signature) != 64 or not (0 < r < N and 0 < s < N):
            return False
        inverse = pow(s, -1, N)
        public = numberOf(key["x"]), numberOf(key["y"])
        z = int.from_bytes(digest, "big")
        point = added(times(z * inverse % N, G), times(r * inverse % N, public))
        return point is not None and point[0] % N == r
    if alg == "RS256" and key["kty"] == "RSA":
        n = numberOf(key["n"])
        size = (n.bit_length() + 7) // 8
        prefix = bytes.fromhex("3031300d060960864801650304020105000420") + digest
        expected = b"\x00\x01" + b"\xff" * (size - len(prefix) - 3) + b"\x00" + prefix
        return pow(int.from_bytes(signature, "big"), numberOf(key["e"]), n).to_bytes(size, "big") == expected
    return False


def claimsOf(given):
    """Checks the token of the circuit; answers its claims."""
    parts = given["token"].split(".")
    require(len(parts) == 3, "the token has three parts")
    header, claims = json.loads(bytesOf(parts[0])), json.loads(bytesOf(parts[1]))
    # The issuer is a controller of this network, and its keys are the only ones that count.
    issuers = [one for one in given["issuers"] if one["iss"] == claims.get("iss")]
    require(len(issuers) == 1, "the issuer %s is a controller of the network" % claims.get("iss"))
    keys = [key for key in issuers[0]["keys"] if key.get("kid") == header.get("kid")]
    require(len(keys) == 1, "the issuer has the key %s" % header.get("kid"))
    content = (parts[0] + "." + parts[1]).encode()
    require(isSigned(keys[0], header.get("alg"), bytesOf(parts[2]), content), "the token is signed by %s" % header)
    aud = claims.get("aud")
    require(isinstance(aud, list) and len(aud) == 2, "aud has two values: %s" % aud)
    require(sorted(aud) == sorted([claims.get("z_ii"), claims.get("z_ti")]), "aud is z_ii and z_ti: %s" % claims)
    own = "z_ii" if given["role"] == "dialer" else "z_ti"
    require(claims[own] == given["identityId"], "%s is this identity: %s" % (own, claims[own]))
    require(claims.get("z_cid") == given["circuitId"], "z_cid is the circuit: %s" % claims.get("z_cid"))
    require(claims["exp"] > time.time(), "the token is not over")
    require(claims["exp"] - time.time() <= 181, "the token is good for 180 s")
    return claims


def contextOf(given):
    isDialer = given["role"] == "dialer"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if isDialer else ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(given["roots"])
    # The leaf and intermediates, without the root.
    context.load_cert_chain(given["cert"], given["key"])
    context.set_alpn_protocols(["ziti-e2ee/1/std/" + given["circuitId"]])
    if not isDialer:
        context.num_tickets = 0
    return context


def identityOf(certificate):
    """The id of the identity that a certificate names: spiffe://DOMAIN/identity/ID, and more behind it in those of sessions."""
    names = [value for kind, value in certificate.get("subjectAltName", ()) if kind == "URI" and value.startswith("spiffe:")]
    require(len(names) == 1, "the certificate of the peer has one SPIFFE id: %s" % names)
    found = re.fullmatch(r"spiffe://[^/]+/identity/([^/]+)(/.*)?", names[0])
    require(found is not None, "the SPIFFE id is that of an identity: %s" % names[0])
    return found[1]


def main():
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 1)
    given = json.loads(line)
    isDialer = given["role"] == "dialer"
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = contextOf(given).wrap_bio(incoming, outgoing, server_side=not isDialer)

    def flush():
        sys.stdout.buffer.write(outgoing.read())
        sys.stdout.buffer.flush()

    def until(step):
        """Goes on with a step of TLS until it has what it needs."""
        while True:
            try:
                result = step()
                flush()
                return result
            except ssl.SSLWantReadError:
                flush()
                # A record may come in any number of pieces.
                piece = os.read(0, given.get("readSize", 65536))
                if piece == b"":
                    incoming.write_eof()
                else:
                    incoming.write(piece)

    until(tls.do_handshake)
    claims = claimsOf(given)
    require(tls.version() == "TLSv1.3", "TLS 1.3: %s" % tls.version())
    require(tls.selected_alpn_protocol() == "ziti-e2ee/1/std/" + given["circuitId"], "the ALPN is that of the circuit")
    peer = identityOf(tls.getpeercert())
    expected = claims["z_ti" if isDialer else "z_ii"]
    require(peer == expected, "the peer is %s, and not %s" % (expected, peer))
    heard = b""
    if isDialer:
        until(lambda: tls.write(b"hello from another hand"))
    # Short texts, which both end so.
    while not heard.endswith(b"hand"):
        try:
            piece = until(lambda: tls.read(65536))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            break
        if piece == b"":
            break
        heard += piece
    if not isDialer:
        until(lambda: tls.write(b"heard: " + heard))
    try:
        until(tls.unwrap)
    except (ssl.SSLError, OSError):
        flush()
    return {"heard": heard.decode(), "peer": peer, "claims": claims, "cipher": tls.cipher()[0], "reused": tls.session_reused}


try:
    print(json.dumps({"result": main()}), file=sys.stderr, flush=True)
except Exception as error:
    print(json.dumps({"error": "%s: %s" % (type(error).__name__, error)}), file=sys.stderr, flush=True)
    sys.exit(1)
