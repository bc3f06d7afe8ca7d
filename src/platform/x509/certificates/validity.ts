import type { Validity as ValidityStructure } from '@peculiar/asn1-x509'
import { toHex } from '../../encoding/hex.ts'
import type { Library } from '../encoding/library.ts'

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

/**
 * The span that the certificate `der` names. Throws unless both times stand there to the second in UTC: the library reads
 * a malformed time as an instant of the nineteenth century and an impossible date as a later one.
 */
export function readValidity({ schema }: Library, der: Uint8Array, validity: ValidityStructure): Validity {
  const written = toHex(new Uint8Array(schema.AsnConvert.serialize(validity)))
  if (!toHex(der).includes(written)) throw new Error('certificate has a malformed time')
  return { notBefore: validity.notBefore.getTime().getTime(), notAfter: validity.notAfter.getTime().getTime() }
}
