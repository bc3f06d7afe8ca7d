import { concatenated, fromBase64, toBase64 } from '../base/bytes.ts'
import { runtime } from '../concurrency/process-runtime.ts'
import { SealedOtherwise, type Sealer } from '../ports/credentials.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals and opens bytes; the tag comes last, as in WebCrypto. */
interface Cipher {
  seal(nonce: Bytes, purpose: Bytes, content: Bytes): Promise<Uint8Array>
  /** Rejects bytes that were sealed by another key, with another nonce or for another purpose. */
  open(nonce: Bytes, purpose: Bytes, sealed: Bytes): Promise<Uint8Array>
}

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Seals with AES-256-GCM under a key of 32 bytes; the purpose is authenticated with the text. The default is a random key, which lasts as
 * long as this process. Throws for a key of another length.
 */
export async function createSealer(key: Uint8Array = runtime.bytes(KEY_BYTES)): Promise<Sealer> {
  if (key.length !== KEY_BYTES) throw new Error(`secretsKey: has ${key.length} bytes instead of ${KEY_BYTES}`)
  const cipher = (await findNativeCipher(new Uint8Array(key))) ?? (await webCipher(new Uint8Array(key)))
  const utf8 = new TextEncoder()
  return {
    seal: async (text, purpose) => {
      const nonce = runtime.bytes(NONCE_BYTES)
      return `${toBase64(nonce)}.${toBase64(await cipher.seal(nonce, utf8.encode(purpose), utf8.encode(text)))}`
    },
    open: async (sealed, purpose) => {
      const [nonce = '', content = ''] = sealed.split('.')
      const text = await cipher
        .open(fromBase64(nonce), utf8.encode(purpose), fromBase64(content))
        .catch((cause: unknown) => {
          throw new SealedOtherwise({ cause })
        })
      return new TextDecoder().decode(text)
    },
  }
}

/**
 * A cipher that seals synchronously, by the runtime's `node:crypto`: WebCrypto hands even a short text to a thread, which takes many times
 * as long as the encryption. Undefined when the runtime's `node:crypto` is missing or incomplete.
 */
export async function findNativeCipher(key: Bytes): Promise<Cipher | undefined> {
  const native = await import('node:crypto').catch(() => undefined)
  try {
    const cipher = native && nativeCipher(native, key)
    const probe = new Uint8Array(NONCE_BYTES)
    await cipher?.open(probe, probe, new Uint8Array(await cipher.seal(probe, probe, probe)))
    return cipher
  } catch {
    return undefined
  }
}

function nativeCipher(native: typeof import('node:crypto'), bytes: Bytes): Cipher {
  const { createCipheriv, createDecipheriv, createSecretKey } = native
  const options = { authTagLength: TAG_BYTES }
  // Prepared once: this takes longer than sealing.
  const key = createSecretKey(bytes)
  return {
    async seal(nonce, purpose, content) {
      const cipher = createCipheriv('aes-256-gcm', key, nonce, options).setAAD(purpose)
      return concatenated([cipher.update(content), cipher.final(), cipher.getAuthTag()])
    },
    async open(nonce, purpose, sealed) {
      const end = sealed.length - TAG_BYTES
      if (end < 0) throw new Error('is shorter than its tag')
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, options).setAAD(purpose)
      decipher.setAuthTag(sealed.subarray(end))
      return concatenated([decipher.update(sealed.subarray(0, end)), decipher.final()])
    },
  }
}

/** A cipher by WebCrypto, for every runtime. */
export async function webCipher(key: Bytes): Promise<Cipher> {
  const imported = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const parametersOf = (iv: Bytes, additionalData: Bytes) => ({ name: 'AES-GCM', iv, additionalData })
  return {
    seal: async (nonce, purpose, content) =>
      new Uint8Array(await crypto.subtle.encrypt(parametersOf(nonce, purpose), imported, content)),
    open: async (nonce, purpose, sealed) =>
      new Uint8Array(await crypto.subtle.decrypt(parametersOf(nonce, purpose), imported, sealed)),
  }
}
