import type { FormerGeneration, KeySuccession, NewGeneration } from '../../ports/pki.ts'
import type { PkiSource } from '../pki-material.ts'
import type { KeyStore } from '../sealed-key-store.ts'
import type { ServerCredentials } from '../server-credentials.ts'
import type { Library } from './asn1-structures.ts'
import {
  issueRoot,
  issuerOf,
  issueServer,
  issueSigning,
  keyIdOf,
  SERVER_YEARS,
  SIGNING_YEARS,
  selfIssuer,
} from './authority-certificates.ts'
import {
  type Certificate,
  certificateFacts,
  fingerprintOf,
  pemOf,
  readCertificate,
  readCertificates,
} from './certificate.ts'
import type { Issuer } from './issue.ts'
import { readPublicKey } from './public-key.ts'
import { loadSigningKey, type SigningKey } from './signing-key.ts'

/** The parts of a key succession. */
interface SuccessionParts {
  readonly library: Library
  readonly source: PkiSource
  readonly trustDomain: string
  readonly server: ServerCredentials
  /** Undefined when no key can be kept. */
  readonly keyStore: KeyStore | undefined
  readonly issuer: () => Issuer
  readonly adopt: (
    generations: Parameters<KeySuccession['adopt']>[0],
    issuing: { readonly id: string; readonly signer: SigningKey | undefined },
    now: number,
  ) => Promise<void>
}

/** Authorities that stand between a root and a leaf where one root vouches for the next: the next root, and the signing authority. */
const BELOW_A_VOUCHING_ROOT = 2

/** Makes the next keys and certificates of a network. */
export async function createKeySuccession(parts: SuccessionParts): Promise<KeySuccession> {
  const { library, source, server, keyStore } = parts
  const [signing] = readCertificates(library, source.signingCertPem)
  const configured = {
    id: await fingerprintOf(library, signing),
    rootPem: source.caPem,
    chainPem: source.signingCertPem,
    keyId: signing.extensions.subjectKeyId ?? '',
    hasRootKey: (source.caKeyPem ?? source.caKey) !== undefined,
  }
  const kept = (): KeyStore => {
    if (keyStore !== undefined) return keyStore
    throw new Error('keys that are made cannot be kept: give secretsKey or keyStore')
  }

  const newKey = async (purpose: 'root' | 'signing' | 'server', algorithm: 'ES256' | 'RS256' = 'ES256') => {
    const { reference, publicKey } = await kept().create(purpose, algorithm)
    const read = readPublicKey(library, new Uint8Array(publicKey))
    return { reference, publicKey: read.der, key: await loadSigningKey(library, await kept().open(reference), read) }
  }

  /** The root that signed a signing authority, with its key; undefined when the key is unavailable. */
  const rootOf = async ({ rootPem, chainPem, rootKey }: FormerGeneration) => {
    const held = rootKey === null ? (source.caKeyPem ?? source.caKey) : await kept().open(rootKey)
    const certificate = await signerOf(readCertificates(library, rootPem), readCertificates(library, chainPem))
    if (held === undefined || certificate === undefined) return undefined
    return { certificate, key: await loadSigningKey(library, held, certificate.publicKey) }
  }

  const signingBelow = async (root: ReturnType<typeof issuerOf>, now: number, end: number) => {
    const key = await newKey('signing')
    const label = (await keyIdOf(library, key.publicKey)).slice(0, 8)
    const commonName = `${parts.trustDomain.slice(0, 39)} signing CA ${label}`
    const holder = { commonName, publicKey: key.publicKey, now, years: SIGNING_YEARS }
    const certificate = readCertificate(library, await issueSigning(library, holder, root))
    if (certificate.notAfter <= now || end <= now) throw new Error('the root has run out: change the root')
    return { certificate, reference: key.reference }
  }

  /** The certificates by which earlier roots vouch, from the chain of the signing authority. */
  const vouchersOf = (former: FormerGeneration, now: number): readonly Certificate[] => {
    const [, ...behind] = readCertificates(library, former.chainPem)
    const rootKeys = readCertificates(library, former.rootPem).map(({ publicKey }) => publicKey.encoded)
    return behind.filter(({ publicKey, notAfter }) => rootKeys.includes(publicKey.encoded) && notAfter > now)
  }

  const generation = async (
    rootPem: string,
    chain: readonly [Certificate, ...Certificate[]],
    keys: Pick<NewGeneration, 'rootKey' | 'signingKey' | 'isVouchedFor'>,
  ): Promise<NewGeneration> => ({
    id: await fingerprintOf(library, chain[0]),
    rootPem,
    chainPem: pemOf(...chain),
    keyId: chain[0].extensions.subjectKeyId ?? '',
    ...keys,
  })

  return {
    configured,
    canKeepKeys: keyStore !== undefined,
    get configuredServer() {
      return server.given
    },
    nextSigning: async (former, now) => {
      const root = await rootOf(former)
      if (root === undefined) throw new Error('the key of the root is not at hand')
      const issuer = issuerOf(root.certificate, root.key)
      const { certificate, reference } = await signingBelow(issuer, now, root.certificate.notAfter)
      return generation(former.rootPem, [certificate, ...vouchersOf(former, now)], {
        rootKey: former.rootKey,
        signingKey: reference,
        isVouchedFor: true,
      })
    },
    nextRoot: async (former, now) => {
      const { trustDomain } = parts
      const root = await newKey('root')
      const label = (await keyIdOf(library, root.publicKey)).slice(0, 8)
      const holder = {
        commonName: `${trustDomain.slice(0, 41)} root CA ${label}`,
        publicKey: root.publicKey,
        now,
        trustDomain,
      }
      const self = await selfIssuer(library, holder, root.key)
      const certificate = readCertificate(library, await issueRoot(library, holder, self))
      const signing = await signingBelow(self, now, certificate.notAfter)
      const before = await rootOf(former)
      const mayVouch =
        before !== undefined &&
        before.certificate.notAfter > now &&
        before.certificate.extensions.pathLength >= BELOW_A_VOUCHING_ROOT
      const vouchers: Certificate[] = []
      if (mayVouch) {
        const vouched = { ...holder, notAfter: before.certificate.notAfter }
        const der = await issueRoot(library, vouched, issuerOf(before.certificate, before.key))
        vouchers.push(readCertificate(library, der), ...vouchersOf(former, now))
      }
      return generation(pemOf(certificate), [signing.certificate, ...vouchers], {
        rootKey: root.reference,
        signingKey: signing.reference,
        isVouchedFor: mayVouch,
      })
    },
    nextServer: async (rollsKey, now) => {
      const { certificate, facts } = server.current
      const isRsa = certificate.publicKey.algorithm.name === 'RSASSA-PKCS1-v1_5'
      const next = rollsKey ? await newKey('server', isRsa ? 'RS256' : 'ES256') : undefined
      const { signing, signer, intermediates } = parts.issuer()
      const holder = {
        commonName: facts.commonName || (facts.hosts[0] ?? 'controller'),
        publicKey: next?.publicKey ?? certificate.publicKey.der,
        ...{ now, years: SERVER_YEARS, isRsa, hosts: facts.hosts, uris: facts.uris },
      }
      const leaf = readCertificate(library, await issueServer(library, holder, issuerOf(signing, signer)))
      return {
        certPem: leaf.pem,
        chainPem: pemOf(leaf, ...intermediates),
        keyReference: next?.reference ?? null,
        facts: await certificateFacts(library, leaf),
      }
    },
    adopt: async (generations, { id, signingKey }, now) => {
      const [first] = readCertificates(library, generations.find((each) => each.id === id)?.chainPem ?? '')
      const signer =
        signingKey === null ? undefined : await loadSigningKey(library, await kept().open(signingKey), first.publicKey)
      await parts.adopt(generations, { id, signer }, now)
    },
    adoptServer: async (chainPem, keyReference) => {
      const key = keyReference === null ? server.current.held : await kept().open(keyReference)
      await server.adopt(
        typeof key === 'string'
          ? { serverCertPem: chainPem, serverKeyPem: key }
          : { serverCertPem: chainPem, serverKey: key },
      )
    },
  }
}

/** The root of `roots` that signed the signing authority, or an authority between them. */
async function signerOf(
  roots: readonly Certificate[],
  chain: readonly Certificate[],
): Promise<Certificate | undefined> {
  for (const root of roots) {
    for (const authority of chain) if (await authority.isSignedWith(root.publicKey)) return root
  }
  return undefined
}
