/** Characters of base64 that are read: the validity follows the serial number and the issuer, near the beginning. */
const READ_DIGITS = 1024
const BEGIN = '-----BEGIN CERTIFICATE-----'
const SEQUENCE = 0x30
const VERSION = 0xa0
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18

/**
 * The expiry of the first certificate in a PEM text, epoch ms; undefined for an unreadable certificate. Nothing else is parsed, so a
 * hundred thousand certificates take a second.
 *
 * @example
 * endOfCertificate(cert) // 1795000000000
 */
export function endOfCertificate(pem: string): number | undefined {
  const begin = pem.indexOf(BEGIN)
  if (begin === -1) return undefined
  const read = pem.slice(begin + BEGIN.length, begin + BEGIN.length + READ_DIGITS)
  const digits = (/^[A-Za-z0-9+/\s]+/.exec(read)?.[0] ?? '').replaceAll(/\s/g, '')
  const part = digits.slice(0, digits.length - (digits.length % 4))
  const der = atob(part)
  const certificate = elementAt(der, 0)
  const signed = certificate && elementAt(der, certificate.from)
  if (certificate?.tag !== SEQUENCE || signed?.tag !== SEQUENCE) return undefined
  let at = signed.from
  if (der.charCodeAt(at) === VERSION) at = elementAt(der, at)?.to ?? der.length
  // The serial number, the algorithm of the signature, and the issuer.
  for (let skipped = 0; skipped < 3; skipped += 1) at = elementAt(der, at)?.to ?? der.length
  const validity = elementAt(der, at)
  const notBefore = validity && elementAt(der, validity.from)
  const end = notBefore && elementAt(der, notBefore.to)
  return end && instantOf(end.tag, der.slice(end.from, end.to))
}

interface Element {
  readonly tag: number
  /** The bounds of its content. */
  readonly from: number
  readonly to: number
}

/** The DER element at `at`, with a character for each byte; undefined after the end. */
function elementAt(der: string, at: number): Element | undefined {
  if (at + 1 >= der.length) return undefined
  const tag = der.charCodeAt(at)
  const first = der.charCodeAt(at + 1)
  if (first < 0x80) return { tag, from: at + 2, to: at + 2 + first }
  const octets = first - 0x80
  if (octets < 1 || octets > 3) return undefined
  let length = 0
  for (let place = at + 2; place < at + 2 + octets; place += 1) length = length * 256 + der.charCodeAt(place)
  const from = at + 2 + octets
  return { tag, from, to: from + length }
}

function instantOf(tag: number, text: string): number | undefined {
  if (tag !== UTC_TIME && tag !== GENERALIZED_TIME) return undefined
  const digits = tag === UTC_TIME ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second] = parts.map(Number)
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second)
}
