/** The bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    // Both halves of a surrogate pair count two: the character that they make has four bytes.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

/** The bytes of a value as JSON; 0 for a value that JSON leaves out. */
export function jsonBytes(value: unknown): number {
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? 0 : utf8Bytes(text)
}

const CHUNK = 0x8000

/** A text with one character for each byte; different bytes give different texts. */
export function bytesText(bytes: Uint8Array): string {
  if (bytes.length <= CHUNK) return String.fromCharCode(...bytes)
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return text
}

/** Standard base64 with padding, on one line. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(bytesText(bytes))
}

/** Base64 for tokens and addresses, without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Decodes standard base64; padding may be absent, white space is refused. Throws for invalid text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (/[^A-Za-z0-9+/=]/.test(text)) throw new Error('not base64')
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** The bytes of all parts, concatenated. */
export function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Lower-case hexadecimal text of `bytes`, without separators. */
export function toHex(bytes: Uint8Array): string {
  let hex = ''
  for (const byte of bytes) hex += PAIRS[byte]
  return hex
}
