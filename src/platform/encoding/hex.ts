import { Buffer } from 'node:buffer'

/** Lower-case hexadecimal text of `bytes`, without separators. */
export function toHex({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex')
}
