import type { OpensslFolder } from './openssl-folder.ts'

/**
 * A server certificate of the network's own authority with a new key, as an operator renews it; the folder holds `signing.pem`
 * and `signing.key`.
 */
export function renewedServerCertificate(openssl: OpensslFolder): { readonly cert: string; readonly key: string } {
  openssl.run('req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout new.key -out new.csr -subj /CN=renewed')
  openssl.write('new.ext', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n')
  openssl.run(
    'x509 -req -in new.csr -CA signing.pem -CAkey signing.key -CAcreateserial -days 9 -extfile new.ext -out new.pem',
  )
  return { cert: openssl.read('new.pem'), key: openssl.read('new.key') }
}
