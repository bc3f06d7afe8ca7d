/** One-way fingerprints of high-entropy secrets: what the store keeps instead of a session token. */
export interface Digest {
  /** Lower-case hexadecimal SHA-256 of the UTF-8 text. */
  sha256(text: string): string
}
