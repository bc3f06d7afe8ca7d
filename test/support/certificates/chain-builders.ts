import * as x509 from '@peculiar/x509'
import {
  authorityExtensions,
  type CertificateRequest,
  clientExtensions,
  createKeys,
  type Issued,
  issueAuthority,
  issueClient,
  type KeyKind,
} from './certificates.ts'
import { bitString, element, elementsOf, sequence } from './der.ts'
import { excludedNames, permittedNames, type SubtreeName } from './name-constraints.ts'

/** A leaf with what the client sent along and the roots that are trusted. */
export interface Chain {
  readonly leaf: Issued
  readonly sent: readonly Issued[]
  readonly roots: readonly Issued[]
}

export type ChainCase = readonly [name: string, build: () => Promise<Chain>]

type AuthorityRequest = CertificateRequest & { pathLength?: number }

/** A root, authorities below it from the top down, and a leaf below the last one. */
export const below = async (
  root: AuthorityRequest,
  authorities: readonly AuthorityRequest[] = [],
  leaf: CertificateRequest = {},
): Promise<Chain> => {
  const top = await issueAuthority({ subject: 'CN=root', ...root })
  const sent: Issued[] = []
  for (const [at, request] of authorities.entries()) {
    sent.unshift(await issueAuthority({ subject: `CN=authority ${at}`, issuer: sent[0] ?? top, ...request }))
  }
  return { leaf: await issueClient({ issuer: sent[0] ?? top, ...leaf }), sent, roots: [top] }
}

export const withLeaf = (...extensions: x509.Extension[]) => below({}, [{}], { extensions })
export const withAuthority = (...extensions: x509.Extension[]) => below({}, [{ extensions }])
export const ofKind = (kind: KeyKind, hash = 'SHA-256') => below({ kind, hash }, [{ kind, hash }], { kind, hash })

const altName = (type: x509.GeneralNameType, value: string) =>
  new x509.SubjectAlternativeNameExtension([{ type, value }])

export const permitting = (base: SubtreeName, leaf: CertificateRequest) =>
  below({}, [{ extensions: [...authorityExtensions(), permittedNames(base)] }], leaf)
export const excluding = (base: SubtreeName, leaf: CertificateRequest) =>
  below({}, [{ extensions: [...authorityExtensions(), excludedNames(base)] }], leaf)
export const named = (type: x509.GeneralNameType, value: string): CertificateRequest => ({
  extensions: [...clientExtensions(), altName(type, value)],
})

export const unknownExtension = (critical: boolean) => new x509.Extension('1.2.3.4.5', critical, Uint8Array.of(5, 0))

/** An authority with a certificate of each of two issuers. The one that leads to a trusted root is sent first. */
export const crossSigned = async (trustOld: boolean, trustNew: boolean): Promise<Chain> => {
  const [old, young] = [await issueAuthority({ subject: 'CN=old' }), await issueAuthority({ subject: 'CN=new' })]
  const keys = await createKeys()
  const byOld = await issueAuthority({ subject: 'CN=crossed', issuer: old, keys })
  const byYoung = await issueAuthority({ subject: 'CN=crossed', issuer: young, keys })
  const stranger = await issueAuthority({ subject: 'CN=stranger' })
  const roots = [...(trustOld ? [old] : []), ...(trustNew ? [young] : []), stranger]
  return { leaf: await issueClient({ issuer: byOld }), sent: trustOld ? [byOld, byYoung] : [byYoung, byOld], roots }
}

/** Two authorities of one name; the leaf names the trusted one and is signed with the key of the other. */
export const namesake = async (anonymousKeys: boolean): Promise<Chain> => {
  const request = { subject: 'CN=twin', anonymousKeys }
  const [real, twin] = [await issueAuthority(request), await issueAuthority(request)]
  return { leaf: await issueClient({ issuer: twin, anonymousKeys }), sent: [], roots: [real] }
}

/** Flips a bit at the end of the signature. */
export const tampered = ({ certificate, keys }: Issued): Issued => {
  const raw = new Uint8Array(certificate.rawData.slice(0))
  raw[raw.length - 1] = (raw[raw.length - 1] ?? 0) ^ 1
  return { certificate: new x509.X509Certificate(raw), keys }
}

/** A certificate with some of its fields changed, signed again with the P-256 key of its issuer. */
export const changed = async (
  { certificate, keys }: Issued,
  issuer: Issued,
  change: (fields: Uint8Array[]) => Uint8Array[],
): Promise<Issued> => {
  const [body, algorithm] = elementsOf(new Uint8Array(certificate.rawData))
  if (!body || !algorithm) throw new Error('a certificate has three parts')
  const changedBody = sequence(...change(elementsOf(body)))
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const fixed = await crypto.subtle.sign(ecdsa, issuer.keys.privateKey, changedBody)
  const signature = new x509.AsnEcSignatureFormatter().toAsnSignature(ecdsa, fixed)
  if (!signature) throw new Error('not an ECDSA signature')
  const der = sequence(changedBody, algorithm, bitString(new Uint8Array(signature)))
  return { certificate: new x509.X509Certificate(der), keys }
}

/** One authority between the root and the leaf, with the given validity, as written in UTCTime. */
export const valid = async (notBefore: string, notAfter: string): Promise<Chain> => {
  const chain = await below({}, [{}])
  const [root, middle] = [chain.roots[0], chain.sent[0]]
  if (!root || !middle) throw new Error('a chain has a root and an authority')
  const time = (text: string) => element(0x17, new TextEncoder().encode(text))
  const validity = sequence(time(notBefore), time(notAfter))
  return { ...chain, sent: [await changed(middle, root, (fields) => fields.with(4, validity))] }
}

/** A leaf below `issuer` that names it by its own issuer and the given serial number, without a key identifier. */
export const naming = (issuer: Issued, serialNumber: string): CertificateRequest => {
  const name = new x509.GeneralNames([{ type: 'dn', value: issuer.certificate.issuer }])
  // The library writes the octets as they are: a leading zero keeps the number positive.
  const positive = /^[89a-f]/i.test(serialNumber) ? `00${serialNumber}` : serialNumber
  const extension = new x509.AuthorityKeyIdentifierExtension({ name, serialNumber: positive })
  return { issuer, anonymousKeys: true, extensions: [...clientExtensions(), extension] }
}
