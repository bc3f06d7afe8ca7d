import nodeCrypto, { createECDH, createHash, createHmac, type KeyObject, type webcrypto } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { Choices } from './choices.ts'

/** The order of the group of P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const P256 = 'P-256'
const CURVE = 'prime256v1'

/** A question to WebCrypto that waits for those before it. */
interface Question {
  readonly work: () => Promise<unknown>
  readonly settle: (answer: Promise<unknown>) => void
}

const questions: Question[] = []
let isAnswering = false
let answering: Promise<void> = Promise.resolve()
let choices: Choices | undefined
const secrets = new WeakMap<object, bigint>()

/** Whether WebCrypto works on something. */
export function isCryptoBusy(): boolean {
  return isAnswering
}

/** Resolves when WebCrypto works on nothing. */
export async function cryptoIdle(): Promise<void> {
  await answering
}

/** The event loop of the host: whatever goes on without a thread is done in it. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Answers one question after the other, each in a turn of its own: whatever follows from an answer has followed before the next one. So
 * answers come in the same order, whether they are computed or known already.
 */
async function answerAll(): Promise<void> {
  isAnswering = true
  for (let next = questions.shift(); next !== undefined; next = questions.shift()) {
    const answer = next.work()
    await answer.catch(() => undefined)
    await turn()
    next.settle(answer)
    // Everything that follows from it comes before the next answer.
    await turn()
  }
  isAnswering = false
}

/** Answers that are kept of a function, until they are many. */
const MOST_KNOWN = 3000

/** Answers of a function without chance: most of the networks of a process ask the same. */
class KnownAnswers {
  readonly #known = new Map<string, Promise<unknown>>()

  of(given: readonly unknown[], answer: () => Promise<unknown>): Promise<unknown> {
    const question = textOf(given)
    const known = this.#known.get(question) ?? answer()
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(question, known)
    return known
  }
}

const numbers = new WeakMap<object, number>()
let count = 0

/** A text for each question: of bytes their values, and of keys a number. */
function textOf(given: unknown): string {
  if (typeof given !== 'object' || given === null) return JSON.stringify(given) ?? ''
  if (given instanceof ArrayBuffer) return Buffer.from(given).toString('latin1')
  if (ArrayBuffer.isView(given)) return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString('latin1')
  if (given instanceof CryptoKey) {
    const known = numbers.get(given) ?? ++count
    numbers.set(given, known)
    return `key ${known}`
  }
  return `{${Object.entries(given)
    .map(([name, value]) => `${name.length}${name}:${textOf(value).length}:${textOf(value)}`)
    .join()}}`
}

/** Keys and random values follow from these choices from now on. */
export function drawFrom(given: Choices): void {
  choices = given
}

function drawn(): Choices {
  if (choices === undefined) throw new Error('nothing was chosen to draw from')
  return choices
}

/**
 * Makes the cryptography of this process repeatable: keys and random values follow from the choices of a run, signatures from the key and
 * the data, and WebCrypto answers in the order of the questions. No product code knows of it.
 */
export function makeCryptoRepeatable(): void {
  const { subtle } = crypto
  const real = {
    generateKey: subtle.generateKey.bind(subtle),
    importKey: subtle.importKey.bind(subtle),
    exportKey: subtle.exportKey.bind(subtle),
    sign: subtle.sign.bind(subtle),
  }
  const replace = (name: string, work: (...given: unknown[]) => Promise<unknown>) => {
    const inOrder = (...given: unknown[]) =>
      new Promise<unknown>((settle) => {
        questions.push({ work: () => work(...given), settle })
        if (!isAnswering) answering = answerAll()
      })
    Object.defineProperty(subtle, name, { value: inOrder, configurable: true })
  }
  for (const name of ['encrypt', 'decrypt', 'deriveKey', 'wrapKey', 'unwrapKey', 'exportKey']) {
    const method: unknown = Reflect.get(subtle, name)
    if (typeof method === 'function') replace(name, async (...given) => Reflect.apply(method, subtle, given))
  }
  for (const name of ['digest', 'verify', 'deriveBits']) {
    const method: unknown = Reflect.get(subtle, name)
    if (typeof method !== 'function') continue
    const known = new KnownAnswers()
    replace(name, async (...given) => {
      const answer = await known.of(given, async () => Reflect.apply(method, subtle, given))
      return answer instanceof ArrayBuffer ? answer.slice() : answer
    })
  }
  const imported = new KnownAnswers()
  const importKey = async (...given: unknown[]) => {
    const key: webcrypto.CryptoKey = await Reflect.apply(real.importKey, subtle, given)
    await remember(key, async () =>
      Reflect.apply(real.importKey, subtle, [given[0], given[1], given[2], true, given[4]]),
    )
    return key
  }
  replace('importKey', (...given) => imported.of(given, () => importKey(...given)))
  const remember = async (key: webcrypto.CryptoKey, extractable: () => Promise<webcrypto.CryptoKey>) => {
    if (key.type !== 'private' || key.algorithm.name !== 'ECDSA' || Reflect.get(key.algorithm, 'namedCurve') !== P256)
      return
    const { d = '' } = await real.exportKey('jwk', key.extractable ? key : await extractable())
    secrets.set(key, toNumber(Buffer.from(d, 'base64url')))
  }
  replace('generateKey', async (...given) => {
    const [algorithm, extractable, usages] = given
    const { name, namedCurve } = Object(algorithm)
    if (name !== 'ECDSA' || namedCurve !== P256) return Reflect.apply(real.generateKey, subtle, given)
    const d = Buffer.from(drawn().bytes(32))
    // Below the order of the group.
    d[0] = (d[0] ?? 0) & 0x7f
    const point = pointOf(toNumber(d))
    const [x = '', y = ''] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
    const jwk = { kty: 'EC', crv: P256, x, y }
    const curve = { name: 'ECDSA', namedCurve: P256 }
    const of = (usage: string) => [usages].flat().filter((one) => one === usage) as webcrypto.KeyUsage[]
    const privateKey = await real.importKey(
      'jwk',
      { ...jwk, d: d.toString('base64url') },
      curve,
      Boolean(extractable),
      of('sign'),
    )
    secrets.set(privateKey, toNumber(d))
    return { privateKey, publicKey: await real.importKey('jwk', jwk, curve, true, of('verify')) }
  })
  replace('sign', async (...given) => {
    const [algorithm, key, data] = given
    const secret = secrets.get(Object(key))
    const hash = Object(Object(algorithm).hash).name ?? Object(algorithm).hash
    if (secret === undefined || hash !== 'SHA-256') return Reflect.apply(real.sign, subtle, given)
    const signature = signed(secret, bytesIn(data))
    return signature.buffer.slice(signature.byteOffset, signature.byteOffset + 64)
  })
  const realSign = nodeCrypto.sign
  const nativeSign = (hash: string | null, data: Uint8Array, given: unknown) => {
    const key: KeyObject = Object(given).key ?? given
    const isRaw = Object(given).dsaEncoding === 'ieee-p1363'
    const isP256 = key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === CURVE
    if (!isRaw || !isP256 || hash !== 'sha256') return Reflect.apply(realSign, nodeCrypto, [hash, data, given])
    const secret = secrets.get(key) ?? toNumber(Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url'))
    secrets.set(key, secret)
    return signed(secret, data)
  }
  Object.assign(nodeCrypto, { sign: nativeSign })
  const fill = (bytes: Uint8Array) => {
    bytes.set(drawn().bytes(bytes.length))
    return bytes
  }
  Object.defineProperty(crypto, 'getRandomValues', { value: fill, configurable: true })
  Object.defineProperty(crypto, 'randomUUID', { value: () => drawn().uuid(), configurable: true })
  Object.assign(nodeCrypto, {
    randomUUID: () => drawn().uuid(),
    randomBytes: (length: number) => Buffer.from(drawn().bytes(length)),
  })
  Math.random = () => drawn().fraction()
  syncBuiltinESMExports()
}

/** A signature of ECDSA with SHA-256 whose secret number follows from the key and the data (as RFC 6979 has it, though not its steps). */
function signed(secret: bigint, data: Uint8Array): Buffer {
  const digest = createHash('sha256').update(data).digest()
  for (let attempt = 0; ; attempt += 1) {
    const mac = createHmac('sha256', toBytes(secret)).update(digest).update(Uint8Array.of(attempt)).digest()
    const k = toNumber(mac) % ORDER
    if (k === 0n) continue
    const r = toNumber(pointOf(k).subarray(1, 33)) % ORDER
    const s = (inverse(k) * (toNumber(digest) + r * secret)) % ORDER
    if (r !== 0n && s !== 0n) return Buffer.concat([toBytes(r), toBytes(s)])
  }
}

/** The point of a number: the byte 4, and both coordinates. */
function pointOf(number: bigint): Buffer {
  const ecdh = createECDH(CURVE)
  ecdh.setPrivateKey(toBytes(number))
  return ecdh.getPublicKey()
}

function inverse(value: bigint): bigint {
  let [a, b, u, v] = [((value % ORDER) + ORDER) % ORDER, ORDER, 1n, 0n]
  while (a > 1n) {
    const q = b / a
    ;[a, b, u, v] = [b - q * a, a, v - q * u, u]
  }
  return ((u % ORDER) + ORDER) % ORDER
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
}

function toBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function bytesIn(data: unknown): Uint8Array {
  return data instanceof Uint8Array ? data : new Uint8Array(Object(data))
}
