import 'reflect-metadata'
import { createPrivateKey } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { createPkiMaterial } from 'portcullis'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Certificates of a network whose root ends `lifeMs` after `now` (epoch ms), long before everything that it issued. */
export async function shortRoot({ now, lifeMs }: { readonly now: number; readonly lifeMs: number }) {
  const { caKeyPem, caPem, ...rest } = await createPkiMaterial({
    hosts: ['localhost', '127.0.0.1'],
    trustDomain: 'corp.test',
    now,
  })
  const root = new x509.X509Certificate(caPem)
  const pkcs8 = createPrivateKey(caKeyPem).export({ type: 'pkcs8', format: 'der' })
  const short = await x509.X509CertificateGenerator.createSelfSigned({
    name: root.subjectName,
    serialNumber: root.serialNumber,
    notBefore: root.notBefore,
    notAfter: new Date(now + lifeMs),
    extensions: root.extensions,
    signingAlgorithm: ALGORITHM,
    keys: {
      publicKey: await root.publicKey.export(ALGORITHM, ['verify']),
      privateKey: await crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), ALGORITHM, false, ['sign']),
    },
  })
  return { ...rest, caKeyPem, caPem: `${short.toString('pem')}\n` }
}
