import { type DerElement, readElements } from '../encoding/read-der.ts'
import { DER_TAGS } from '../encoding/write-der.ts'

/** The span in which a certificate is valid, in milliseconds since the Unix epoch. */
export interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

const MINUTE_MS = 60_000

/**
 * The span in which a new certificate is valid, in ms: from one minute before `now`, for clients whose clock is a little
 * behind, until the same instant `years` calendar years later.
 */
export function validityOf(now: number, years: number): Validity {
  const end = new Date(now)
  end.setUTCFullYear(end.getUTCFullYear() + years)
  return { notBefore: now - MINUTE_MS, notAfter: end.getTime() }
}

/** The span that a certificate names. Throws unless both times stand there to the second in UTC, on a date that there is. */
export function readValidity(validity: DerElement): Validity {
  const [notBefore, notAfter, ...others] = readElements(validity.content)
  if (notBefore === undefined || notAfter === undefined || others.length > 0) throw malformed()
  return { notBefore: readTime(notBefore), notAfter: readTime(notAfter) }
}

function readTime({ tag, content }: DerElement): number {
  if (tag !== DER_TAGS.utcTime && tag !== DER_TAGS.generalizedTime) throw malformed()
  const text = String.fromCharCode(...content)
  // Two digits of a year are of 1950 to 2049 (RFC 5280 section 4.1.2.5.1).
  const century = text < '5' ? '20' : '19'
  const full = tag === DER_TAGS.utcTime ? century + text : text
  const iso = full.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z')
  const instant = Date.parse(iso)
  // An impossible date is read as a later one, or not at all.
  if (Number.isNaN(instant) || new Date(instant).toISOString() !== iso) throw malformed()
  return instant
}

function malformed(): Error {
  return new Error('certificate has a malformed time')
}
