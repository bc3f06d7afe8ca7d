const CHUNK = 0x8000

/** A text with one character for each byte, which stands for these bytes and no others. */
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

/** Decodes standard base64; padding may be absent, white space is refused. Throws on anything else. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (/[^A-Za-z0-9+/=]/.test(text)) throw new Error('not base64')
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}
