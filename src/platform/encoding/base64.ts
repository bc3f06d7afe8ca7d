const chunk = 0x8000

/** Standard base64 with padding, on one line. */
export const toBase64 = (bytes: Uint8Array): string => {
  let binary = ''
  for (let at = 0; at < bytes.length; at += chunk) binary += String.fromCharCode(...bytes.subarray(at, at + chunk))
  return btoa(binary)
}

/** Base64 for tokens and addresses, without padding. */
export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

/** Decodes standard base64; padding may be absent, white space is refused. Throws on anything else. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => {
  if (/[^A-Za-z0-9+/=]/.test(text)) throw new Error('not base64')
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}
