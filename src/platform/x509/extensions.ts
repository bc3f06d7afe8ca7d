import { type DerElement, derTag, elementsOf, fieldsOf, readDer } from './der.ts'
import { readBoolean, readNamedBits, readOid, readSmallInteger } from './der-values.ts'
import { type GeneralName, readGeneralNames } from './general-name.ts'
import { type NameConstraints, readNameConstraints } from './name-constraints.ts'
import { oids } from './oids.ts'

/** What the extensions of a certificate say, RFC 5280 section 4.2. An absent extension leaves its field undefined. */
export interface Extensions {
  readonly isAuthority: boolean
  readonly pathLength?: number
  /** Set bits, see `keyUsageBit`. */
  readonly keyUsage?: ReadonlySet<number>
  readonly extendedKeyUsage?: ReadonlySet<string>
  readonly subjectKeyId?: Uint8Array
  readonly authority: AuthorityKeyId
  readonly altNames: readonly GeneralName[]
  readonly nameConstraints?: NameConstraints
  /** A critical extension is present whose meaning is not known here, so the certificate must not be relied on. */
  readonly hasUnknownCritical: boolean
}

/** How a certificate names the key that signed it. `issuers` holds the encoded directory names. */
interface AuthorityKeyId {
  readonly keyId?: Uint8Array
  readonly issuers?: readonly Uint8Array[]
  readonly serial?: Uint8Array
}

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] }
type Reader = (extensions: Mutable<Extensions>, value: DerElement) => void

const readBasicConstraints: Reader = (extensions, value) => {
  const fields = fieldsOf(value)
  const isAuthority = fields.takeIf(derTag.boolean)
  const pathLength = fields.takeIf(derTag.integer)
  fields.end()
  extensions.isAuthority = isAuthority !== undefined && readBoolean(isAuthority)
  if (pathLength !== undefined) extensions.pathLength = readSmallInteger(pathLength)
}

const readAuthorityKeyId: Reader = (extensions, value) => {
  const fields = fieldsOf(value)
  const keyId = fields.takeIf(0x80)
  const issuers = fields.takeIf(0xa1)
  const serial = fields.takeIf(0x82)
  fields.end()
  const names = issuers && elementsOf(issuers).filter(({ tag }) => tag === 0xa4)
  extensions.authority = {
    ...(keyId && { keyId: keyId.content }),
    ...(names && { issuers: names.map(({ content }) => content) }),
    ...(serial && { serial: serial.content }),
  }
}

const readers = new Map<string, readonly [tag: number, read: Reader]>([
  [oids.basicConstraints, [derTag.sequence, readBasicConstraints]],
  [oids.keyUsage, [derTag.bitString, (extensions, value) => (extensions.keyUsage = readNamedBits(value))]],
  [
    oids.extendedKeyUsage,
    [derTag.sequence, (extensions, value) => (extensions.extendedKeyUsage = new Set(elementsOf(value).map(readOid)))],
  ],
  [oids.subjectKeyIdentifier, [derTag.octetString, (extensions, value) => (extensions.subjectKeyId = value.content)]],
  [oids.authorityKeyIdentifier, [derTag.sequence, readAuthorityKeyId]],
  [oids.subjectAltName, [derTag.sequence, (extensions, value) => (extensions.altNames = readGeneralNames(value))]],
  [
    oids.nameConstraints,
    [derTag.sequence, (extensions, value) => (extensions.nameConstraints = readNameConstraints(value))],
  ],
])

/** Policies restrict nothing here: every policy is acceptable and none is required. */
const ignorable = new Set<string>([oids.certificatePolicies])

/** Reads the Extensions of a certificate. Throws when one that is known is malformed or when one occurs twice. */
export const readExtensions = (element: DerElement | undefined): Extensions => {
  const extensions: Mutable<Extensions> = { isAuthority: false, authority: {}, altNames: [], hasUnknownCritical: false }
  const seen = new Set<string>()
  for (const extension of element === undefined ? [] : elementsOf(element)) {
    const fields = fieldsOf(extension)
    const id = readOid(fields.take(derTag.oid))
    const critical = fields.takeIf(derTag.boolean)
    const value = fields.take(derTag.octetString)
    fields.end()
    if (seen.has(id)) throw new Error('certificate has an extension twice')
    seen.add(id)
    const reader = readers.get(id)
    if (reader !== undefined) {
      const [tag, read] = reader
      read(extensions, readDer(value.content, tag))
    } else if (critical !== undefined && readBoolean(critical) && !ignorable.has(id)) {
      extensions.hasUnknownCritical = true
    }
  }
  return extensions
}
