import type { GeneralSubtrees } from '@peculiar/asn1-x509'
import { toHex } from '../../base/bytes.ts'
import { type Library, parseDer } from './asn1-structures.ts'
import { comparableRelativeNames, type GeneralName, readGeneralName } from './distinguished-names.ts'

/**
 * The names that an authority may certify: inside a permitted subtree of their kind, if any exists, and outside of all excluded subtrees.
 */
export interface NameConstraints {
  readonly permitted: readonly GeneralName[]
  readonly excluded: readonly GeneralName[]
}

/**
 * Reads NameConstraints of RFC 5280 section 4.2.1.10. Throws for malformed constraints, for a subtree with a minimum or a maximum, and for
 * constraints that change when they are encoded again. The library reads a mask as a prefix length: a mask that is no prefix would cover
 * other addresses than the authority was given.
 */
export function readNameConstraints(library: Library, encoded: ArrayBuffer): NameConstraints {
  const { asn1, schema } = library
  const constraints = parseDer(library, new Uint8Array(encoded), asn1.NameConstraints)
  const written = schema.AsnConvert.serialize(constraints)
  if (toHex(new Uint8Array(written)) !== toHex(new Uint8Array(encoded)))
    throw new Error('name constraints are malformed')
  return {
    permitted: basesOf(library, constraints.permittedSubtrees),
    excluded: basesOf(library, constraints.excludedSubtrees),
  }
}

function basesOf(library: Library, subtrees: GeneralSubtrees | undefined): GeneralName[] {
  return (subtrees ?? []).map(({ base, minimum, maximum }) => {
    if (minimum !== 0 || maximum !== undefined) throw new Error('name constraint has a minimum or a maximum')
    return readGeneralName(library, base)
  })
}

/** Bounds the work that one hostile pair of certificates can cause. */
const MAX_COMPARISONS = 100_000

/**
 * Reports whether all `names` satisfy the constraints. No name satisfies a constraint of an unknown kind, and an unreadable name satisfies
 * no constraint of its kind.
 */
export function permitsNames({ permitted, excluded }: NameConstraints, names: readonly GeneralName[]): boolean {
  const subtrees = [...permitted, ...excluded]
  if (subtrees.some(({ kind }) => kind === 'other')) return false
  if (subtrees.length * names.length > MAX_COMPARISONS) return false
  return names.every((name) => {
    if (!subtrees.some(({ kind }) => kind === name.kind)) return true
    if (!isComparable(name)) return false
    const allowed = permitted.filter(({ kind }) => kind === name.kind)
    if (allowed.length > 0 && !allowed.some((subtree) => isWithin(name, subtree))) return false
    return !excluded.some((subtree) => isWithin(name, subtree))
  })
}

const HOST_PATTERN = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i

/** Host of a URI with an authority that is a DNS name, without user information; otherwise undefined. */
function uriHost(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#:@]+)(:\d*)?([/?#]|$)/i.exec(uri)?.[1]
}

function isComparable(name: GeneralName): boolean {
  switch (name.kind) {
    case 'dns':
      return HOST_PATTERN.test(name.value)
    case 'email':
      return /^[^@\s]+@[^@]+$/.test(name.value) && HOST_PATTERN.test(name.value.slice(name.value.indexOf('@') + 1))
    case 'uri': {
      const host = uriHost(name.value)
      return host !== undefined && HOST_PATTERN.test(host) && !/^[\d.]+$/.test(host)
    }
    case 'ip':
      return name.value.length === 4 || name.value.length === 16
    default:
      return true
  }
}

function isWithin(name: GeneralName, subtree: GeneralName): boolean {
  if (name.kind === 'dns' && subtree.kind === 'dns') return isDomainWithin(name.value, subtree.value)
  if (name.kind === 'email' && subtree.kind === 'email') return isMailboxWithin(name.value, subtree.value)
  if (name.kind === 'uri' && subtree.kind === 'uri') return isHostWithin(uriHost(name.value) ?? '', subtree.value)
  if (name.kind === 'ip' && subtree.kind === 'ip') return isAddressWithin(name.value, subtree.value)
  if (name.kind !== 'directory' || subtree.kind !== 'directory') return false
  const whole = comparableRelativeNames(name.value)
  return comparableRelativeNames(subtree.value).every((relative, at) => relative === whole[at])
}

/** A DNS subtree holds the domain itself and all names below it. A subtree with a leading dot holds only the names below. */
function isDomainWithin(domain: string, subtree: string): boolean {
  const [name, base] = [domain.toLowerCase(), subtree.toLowerCase()]
  return base === '' || name === base || name.endsWith(base.startsWith('.') ? base : `.${base}`)
}

/** In mail and URI subtrees, a host matches only itself, and a leading dot matches all names below. */
function isHostWithin(host: string, subtree: string): boolean {
  const [name, base] = [host.toLowerCase(), subtree.toLowerCase()]
  return base.startsWith('.') ? name.endsWith(base) : name === base
}

function isMailboxWithin(mailbox: string, subtree: string): boolean {
  const at = mailbox.indexOf('@')
  const subtreeAt = subtree.indexOf('@')
  if (subtreeAt < 0) return isHostWithin(mailbox.slice(at + 1), subtree)
  const sameLocalPart = mailbox.slice(0, at) === subtree.slice(0, subtreeAt)
  return sameLocalPart && isHostWithin(mailbox.slice(at + 1), subtree.slice(subtreeAt + 1))
}

function isAddressWithin(address: Uint8Array, subtree: Uint8Array): boolean {
  const size = address.length
  if (subtree.length !== 2 * size) return false
  return address.every((octet, at) => ((octet ^ (subtree[at] ?? 0)) & (subtree[size + at] ?? 0xff)) === 0)
}
