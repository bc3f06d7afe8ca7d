import { createHmac } from 'node:crypto'

/** Milliseconds that a one-time code is shown by an authenticator app. */
export const STEP_MS = 30_000

/** RFC 6238 by hand: the code that an app with a base32 secret shows at an instant (epoch ms). */
export function totp(secret: string, at: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at / STEP_MS)))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** A code that is not shown within a minute of `at`. */
export function wrongCode(secret: string, at: number): string {
  const shown = [-3, -2, -1, 0, 1, 2, 3].map((steps) => totp(secret, at + steps * STEP_MS))
  return ['000000', '111111', '222222', '333333', '444444', '555555', '666666', '777777'].find(
    (code) => !shown.includes(code),
  ) as string
}

function fromBase32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)))
}
