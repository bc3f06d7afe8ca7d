import { fieldsOf, readDer } from './x509/der.ts'
import { readOctetAlignedBits } from './x509/der-values.ts'
import type { Octets } from './x509/der-writer.ts'
import { writeHostName, writeUriName } from './x509/general-name.ts'
import {
  authorityConstraints,
  authorityKeyIdentifier,
  extendedKeyUsage,
  issueCertificate,
  keyUsage,
  subjectAltNames,
  subjectKeyIdentifier,
} from './x509/issue.ts'
import { writeCommonName } from './x509/name.ts'
import { keyUsageBit, oids } from './x509/oids.ts'
import { writePem } from './x509/pem.ts'
import { readPublicKey } from './x509/public-key.ts'
import { type SigningKey, signingKeyOf } from './x509/signing-key.ts'
import { validityOf } from './x509/validity.ts'

/** The certificates and private keys of one network, all PEM. */
export interface PkiMaterial {
  /** The trust bundle: the roots, and other authorities of the network. */
  readonly caPem: string
  /** The authority that signs client certificates, followed by its intermediates. */
  readonly signingCertPem: string
  readonly signingKeyPem: string
  /** The TLS server certificate, followed by its intermediates. Its key signs the network's tokens. */
  readonly serverCertPem: string
  readonly serverKeyPem: string
}

export interface PkiMaterialRequest {
  /** DNS names and IP addresses under which clients reach the controller. */
  readonly hosts: readonly string[]
  /** SPIFFE trust domain of the network: lower-case letters, digits, dots, hyphens and underscores. */
  readonly trustDomain: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

const authorityUsage = keyUsage([keyUsageBit.keyCertSign, keyUsageBit.crlSign])

/**
 * Creates a network's own authorities and server certificate, with P-256 keys: a root (10 years), below it a signing
 * authority that can have no authority below itself (5 years), below that the TLS server certificate (1 year). Throws on
 * a malformed host or trust domain.
 */
export const createPkiMaterial = async ({ hosts, trustDomain, now }: PkiMaterialRequest): Promise<PkiMaterial> => {
  if (!/^[a-z0-9._-]{1,255}$/.test(trustDomain)) throw new Error(`'${trustDomain}' is not a SPIFFE trust domain`)
  const controllerPath = (hosts[0] ?? 'controller').replace(/[^A-Za-z0-9._-]/g, '-')
  const [root, signing, server] = await Promise.all([createKey(), createKey(), createKey()])
  const rootName = writeCommonName(`${trustDomain.slice(0, 48)} root CA`)
  const signingName = writeCommonName(`${trustDomain.slice(0, 48)} signing CA`)

  const [rootCertificate, signingCertificate, serverCertificate] = await Promise.all([
    issueCertificate(
      {
        encodedIssuer: rootName,
        encodedSubject: rootName,
        spki: root.spki,
        ...validityOf(now, 10),
        extensions: [
          authorityConstraints(),
          authorityUsage,
          subjectKeyIdentifier(root.keyId),
          subjectAltNames([writeUriName(`spiffe://${trustDomain}`)]),
        ],
      },
      root.signer,
    ),
    issueCertificate(
      {
        encodedIssuer: rootName,
        encodedSubject: signingName,
        spki: signing.spki,
        ...validityOf(now, 5),
        extensions: [
          authorityConstraints(0),
          authorityUsage,
          subjectKeyIdentifier(signing.keyId),
          authorityKeyIdentifier(root.keyId),
        ],
      },
      root.signer,
    ),
    issueCertificate(
      {
        encodedIssuer: signingName,
        encodedSubject: writeCommonName(hosts[0] ?? 'controller'),
        spki: server.spki,
        ...validityOf(now, 1),
        extensions: [
          keyUsage([keyUsageBit.digitalSignature]),
          extendedKeyUsage(oids.serverAuth),
          subjectKeyIdentifier(server.keyId),
          authorityKeyIdentifier(signing.keyId),
          subjectAltNames([
            ...hosts.map(writeHostName),
            writeUriName(`spiffe://${trustDomain}/controller/${controllerPath}`),
          ]),
        ],
      },
      signing.signer,
    ),
  ])
  const signingCertPem = writePem('CERTIFICATE', signingCertificate)
  return {
    caPem: writePem('CERTIFICATE', rootCertificate),
    signingCertPem,
    signingKeyPem: signing.pem,
    serverCertPem: writePem('CERTIFICATE', serverCertificate) + signingCertPem,
    serverKeyPem: server.pem,
  }
}

interface NewKey {
  readonly spki: Octets
  /** SHA-1 of the public key bits, RFC 5280 section 4.2.1.2. */
  readonly keyId: Octets
  readonly signer: SigningKey
  readonly pem: string
}

const createKey = async (): Promise<NewKey> => {
  const { publicKey, privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ])
  const spki = new Uint8Array(await crypto.subtle.exportKey('spki', publicKey))
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey))
  const element = readDer(spki)
  const fields = fieldsOf(element)
  fields.takeAny()
  const bits = readOctetAlignedBits(fields.takeAny())
  return {
    spki,
    keyId: new Uint8Array(await crypto.subtle.digest('SHA-1', bits)),
    signer: signingKeyOf(privateKey, readPublicKey(element)),
    pem: writePem('PRIVATE KEY', pkcs8),
  }
}
