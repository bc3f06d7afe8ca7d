import type { FormerGeneration, KeySuccession, NewGeneration, NewServerCertificate } from '../../ports/pki.ts'
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

/** Digits of the key's identifier in the common name of an authority. Common names have 64 characters at most (RFC 5280, appendix A). */
const LABEL_LENGTH = 8

/** Makes the next keys and certificates of a network. */
export async function createKeySuccession(parts: SuccessionParts): Promise<KeySuccession> {
  const { library, source } = parts
  const [signing] = readCertificates(library, source.signingCertPem)
  return new X509KeySuccession(parts, {
    id: await fingerprintOf(library, signing),
    rootPem: source.caPem,
    chainPem: source.signingCertPem,
    keyId: signing.extensions.subjectKeyId ?? '',
    hasRootKey: (source.caKeyPem ?? source.caKey) !== undefined,
  })
}

class X509KeySuccession implements KeySuccession {
  readonly configured: KeySuccession['configured']
  readonly #parts: SuccessionParts

  constructor(parts: SuccessionParts, configured: KeySuccession['configured']) {
    this.#parts = parts
    this.configured = configured
  }

  get canKeepKeys(): boolean {
    return this.#parts.keyStore !== undefined
  }

  get configuredServer(): string {
    return this.#parts.server.given
  }

  async nextSigning(former: FormerGeneration, now: number): Promise<NewGeneration> {
    const root = await this.#rootOf(former)
    if (root === undefined) throw new Error('the key of the root is not at hand')
    const issuer = issuerOf(root.certificate, root.key)
    const { certificate, reference } = await this.#signingBelow(issuer, now, root.certificate.notAfter)
    const keys = { rootKey: former.rootKey, signingKey: reference, isVouchedFor: true }
    return this.#generation(former.rootPem, [certificate, ...this.#vouchersOf(former, now)], keys)
  }

  async nextRoot(former: FormerGeneration, now: number): Promise<NewGeneration> {
    const { library, trustDomain } = this.#parts
    const { reference: rootKey, publicKey, key } = await this.#newKey('root')
    const label = (await keyIdOf(library, publicKey)).slice(0, LABEL_LENGTH)
    const holder = { commonName: `${trustDomain.slice(0, 41)} root CA ${label}`, publicKey, now, trustDomain }
    const self = await selfIssuer(library, holder, key)
    const root = readCertificate(library, await issueRoot(library, holder, self))
    const signing = await this.#signingBelow(self, now, root.notAfter)
    const voucher = await this.#voucherFor(holder, former)
    const vouchers = voucher === undefined ? [] : [voucher, ...this.#vouchersOf(former, now)]
    const keys = { rootKey, signingKey: signing.reference, isVouchedFor: voucher !== undefined }
    return this.#generation(pemOf(root), [signing.certificate, ...vouchers], keys)
  }

  async nextServer(rollsKey: boolean, now: number): Promise<NewServerCertificate> {
    const { library, server, issuer } = this.#parts
    const { certificate, facts } = server.current
    const isRsa = certificate.publicKey.algorithm.name === 'RSASSA-PKCS1-v1_5'
    const next = rollsKey ? await this.#newKey('server', isRsa ? 'RS256' : 'ES256') : undefined
    const { signing, signer, intermediates } = issuer()
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
  }

  async adopt(...[generations, { id, signingKey }, now]: Parameters<KeySuccession['adopt']>): Promise<void> {
    const { library, adopt } = this.#parts
    const [first] = readCertificates(library, generations.find((each) => each.id === id)?.chainPem ?? '')
    const held = signingKey === null ? undefined : await this.#store().open(signingKey)
    const signer = held === undefined ? undefined : await loadSigningKey(library, held, first.publicKey)
    await adopt(generations, { id, signer }, now)
  }

  async adoptServer(chainPem: string, keyReference: string | null): Promise<void> {
    const { server } = this.#parts
    const key = keyReference === null ? server.current.held : await this.#store().open(keyReference)
    const held = typeof key === 'string' ? { serverKeyPem: key } : { serverKey: key }
    await server.adopt({ serverCertPem: chainPem, ...held })
  }

  #store(): KeyStore {
    const { keyStore } = this.#parts
    if (keyStore !== undefined) return keyStore
    throw new Error('keys that are made cannot be kept: give secretsKey or keyStore')
  }

  async #newKey(purpose: 'root' | 'signing' | 'server', algorithm: 'ES256' | 'RS256' = 'ES256') {
    const { library } = this.#parts
    const { reference, publicKey } = await this.#store().create(purpose, algorithm)
    const read = readPublicKey(library, new Uint8Array(publicKey))
    const key = await loadSigningKey(library, await this.#store().open(reference), read)
    return { reference, publicKey: read.der, key }
  }

  /** The root that signed a signing authority, with its key; undefined when the key is unavailable. */
  async #rootOf({ rootPem, chainPem, rootKey }: FormerGeneration) {
    const { library, source } = this.#parts
    const held = rootKey === null ? (source.caKeyPem ?? source.caKey) : await this.#store().open(rootKey)
    const certificate = await signerOf(readCertificates(library, rootPem), readCertificates(library, chainPem))
    if (held === undefined || certificate === undefined) return undefined
    return { certificate, key: await loadSigningKey(library, held, certificate.publicKey) }
  }

  /** A signing authority below a root that is valid until `rootEnd`. */
  async #signingBelow(root: ReturnType<typeof issuerOf>, now: number, rootEnd: number) {
    const { library, trustDomain } = this.#parts
    const { publicKey, reference } = await this.#newKey('signing')
    const label = (await keyIdOf(library, publicKey)).slice(0, LABEL_LENGTH)
    const commonName = `${trustDomain.slice(0, 39)} signing CA ${label}`
    const holder = { commonName, publicKey, now, years: SIGNING_YEARS }
    const certificate = readCertificate(library, await issueSigning(library, holder, root))
    if (certificate.notAfter <= now || rootEnd <= now) throw new Error('the root has run out: change the root')
    return { certificate, reference }
  }

  /** The certificate by which the former root vouches for a new root; undefined where it cannot, or may not. */
  async #voucherFor(newRoot: Parameters<typeof issueRoot>[1], former: FormerGeneration) {
    const { library } = this.#parts
    const root = await this.#rootOf(former)
    if (root === undefined) return undefined
    const { notAfter, extensions } = root.certificate
    if (notAfter <= newRoot.now || extensions.pathLength < BELOW_A_VOUCHING_ROOT) return undefined
    const der = await issueRoot(library, { ...newRoot, notAfter }, issuerOf(root.certificate, root.key))
    return readCertificate(library, der)
  }

  /** The certificates by which earlier roots vouch, from the chain of the signing authority. */
  #vouchersOf(former: FormerGeneration, now: number): readonly Certificate[] {
    const { library } = this.#parts
    const [, ...behind] = readCertificates(library, former.chainPem)
    const rootKeys = readCertificates(library, former.rootPem).map(({ publicKey }) => publicKey.encoded)
    return behind.filter(({ publicKey, notAfter }) => rootKeys.includes(publicKey.encoded) && notAfter > now)
  }

  async #generation(
    rootPem: string,
    chain: readonly [Certificate, ...Certificate[]],
    keys: Pick<NewGeneration, 'rootKey' | 'signingKey' | 'isVouchedFor'>,
  ): Promise<NewGeneration> {
    const id = await fingerprintOf(this.#parts.library, chain[0])
    return { id, rootPem, chainPem: pemOf(...chain), keyId: chain[0].extensions.subjectKeyId ?? '', ...keys }
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
