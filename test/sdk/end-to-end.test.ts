import { createHash } from 'node:crypto'
import fc from 'fast-check'
import sodium from 'libsodium-wrappers'
import { beforeAll, describe, expect, it } from 'vitest'
// Internals: no entry point exports the cryptography, which the ends of connections use alone.
import { type EndToEnd, endToEndBy } from '../../adapters/network/sdk/end-to-end.ts'
import { loadNativeStreams } from '../../adapters/network/sdk/streams/native-streams.ts'
import type { SecretStreams } from '../../adapters/network/sdk/streams/secret-streams.ts'
import { loadWebAssemblyStreams } from '../../adapters/network/sdk/streams/webassembly-streams.ts'

const LIBRARIES: readonly [string, () => Promise<SecretStreams | undefined>][] = [
  ['WebAssembly', loadWebAssemblyStreams],
  ['native code', loadNativeStreams],
]

/** The pair that a seed leads to, as SDKs of the field derive it. */
function pairOf(seed: Uint8Array) {
  const { publicKey, privateKey } = sodium.crypto_kx_seed_keypair(seed)
  return { publicKey, secretKey: privateKey }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe.each(LIBRARIES)('encryption from end to end by %s', (name, load) => {
  let cipher: EndToEnd
  /** The other end has the other library. */
  let other: EndToEnd

  beforeAll(async () => {
    const ciphers = new Map<string, EndToEnd>()
    for (const [library, loadLibrary] of LIBRARIES) ciphers.set(library, endToEndBy(await there(loadLibrary())))
    cipher = endToEndBy(await there(load()))
    const [another = cipher] = [...ciphers].filter(([library]) => library !== name).map(([, one]) => one)
    other = another
  })

  it('agrees on the secrets that are known for two seeds', () => {
    const seed = Uint8Array.from({ length: 32 }, (_, index) => index)
    const next = Uint8Array.from(seed)
    next[0] = 1
    const [client, server] = [pairOf(seed), pairOf(next)]
    expect(hex(client.publicKey)).toBe('0e0216223f147143d32615a91189c288c1728cba3cc5f9f621b1026e03d83129')
    const { receive, send } = cipher.agree('client', client, server.publicKey)
    expect(hex(receive)).toMatch(/^749519c6.*15731a$/)
    expect(hex(send)).toMatch(/^62c8f4fa.*238604$/)
    expect(cipher.agree('server', server, client.publicKey)).toEqual({ receive: send, send: receive })
  })

  it('carries what was sent, message by message, in both directions at once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 30 }),
        fc.boolean(),
        (messages, isClient) => {
          const [one, its] = [cipher.createKeyPair(), other.createKeyPair()]
          const sides = isClient ? (['client', 'server'] as const) : (['server', 'client'] as const)
          const sender = cipher.encrypt(cipher.agree(sides[0], one, its.publicKey).send)
          const receiver = other.decrypt(other.agree(sides[1], its, one.publicKey).receive)
          expect(sender.header.length).toBe(24)
          expect(receiver.open(sender.header)).toBeUndefined()
          for (const message of messages) {
            const frame = sender.frame(message)
            expect(frame.length).toBe(message.length + 17)
            expect(hex(receiver.open(frame) ?? Buffer.of(0))).toBe(hex(message))
          }
          for (const stream of [sender, receiver]) stream.free()
        },
      ),
    )
  })

  it('refuses a message that was changed, left out, sent twice or cut short', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), (message, place) => {
        const [one, its] = [cipher.createKeyPair(), cipher.createKeyPair()]
        const sender = other.encrypt(other.agree('client', one, its.publicKey).send)
        const key = cipher.agree('server', its, one.publicKey).receive
        const frames = [sender.frame(message), sender.frame(message)]
        const [first = new Uint8Array(), second = new Uint8Array()] = frames
        const changed = Uint8Array.from(first)
        changed[place % changed.length] = (changed[place % changed.length] ?? 0) ^ 1
        for (const wrong of [[changed], [second], [first, first], [first.subarray(0, 16)], [new Uint8Array()]]) {
          const receiver = cipher.decrypt(key)
          receiver.open(sender.header)
          const open = () => wrong.map((frame) => receiver.open(frame))
          expect(open).toThrow(expect.objectContaining({ code: 'DECRYPTION_FAILED' }))
          receiver.free()
        }
      }),
    )
  })

  it.each([
    ['no key', undefined],
    ['a key that is too short', new Uint8Array(31)],
    ['a key whose secret everybody knows', new Uint8Array(32)],
  ])('refuses %s of the other end', (_, key) => {
    const agree = () => cipher.agree('client', cipher.createKeyPair(), key)
    expect(agree).toThrow(expect.objectContaining({ code: 'NO_PEER_KEY' }))
  })
})

it('gives the memory of a stream in WebAssembly back when it is done with, once', async () => {
  const cipher = endToEndBy(await loadWebAssemblyStreams())
  const key = createHash('sha256').update('a key').digest()
  const before = memoryOfLibrary()
  for (let round = 0; round < 3000; round += 1) {
    const stream = cipher.encrypt(key)
    stream.free()
    stream.free()
  }
  // A stream holds 52 bytes: without this there would be 150 kB more.
  expect(memoryOfLibrary() - before).toBeLessThan(20_000)
})

/** The functions of a library that is installed with the tests. */
async function there(library: Promise<SecretStreams | undefined>): Promise<SecretStreams> {
  const streams = await library
  if (streams === undefined) throw new Error('the package sodium-native is absent, or has no build for this machine')
  return streams
}

/** Where the memory of the library ends that was given out, as the next piece of it shows. */
function memoryOfLibrary(): number {
  const library: unknown = Reflect.get(sodium, 'libsodium')
  const memory = library as { _malloc(bytes: number): number; _free(address: number): void }
  const address = memory._malloc(100_000)
  memory._free(address)
  return address
}
