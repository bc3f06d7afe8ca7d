/** Bytes from hexadecimal digits with blanks between, as the documentation of the wire prints them. */
export function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.replace(/\s+/g, ''), 'hex'))
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
