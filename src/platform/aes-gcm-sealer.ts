import { fromBase64, toBase64 } from '../domain/encoding/base64.ts'
import type { Sealer } from '../ports/credentials/sealer.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12

/**
 * Seals with AES-256-GCM under a key of 32 bytes; the purpose is authenticated with the text. Without a key one is made
 * up, which lasts as long as this process. Throws on a key of another length.
 */
export async function createSealer(
  key: Uint8Array = crypto.getRandomValues(new Uint8Array(KEY_BYTES)),
): Promise<Sealer> {
  if (key.length !== KEY_BYTES) throw new Error(`secretsKey: has ${key.length} bytes instead of ${KEY_BYTES}`)
  const imported = await crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['encrypt', 'decrypt'])
  const parametersOf = (iv: Uint8Array<ArrayBuffer>, purpose: string) => {
    return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(purpose) }
  }
  return {
    seal: async (text, purpose) => {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
      const sealed = await crypto.subtle.encrypt(parametersOf(nonce, purpose), imported, new TextEncoder().encode(text))
      return `${toBase64(nonce)}.${toBase64(new Uint8Array(sealed))}`
    },
    open: async (sealed, purpose) => {
      const [nonce = '', content = ''] = sealed.split('.')
      const text = await crypto.subtle
        .decrypt(parametersOf(fromBase64(nonce), purpose), imported, fromBase64(content))
        .catch((cause: unknown) => {
          throw new Error('a stored secret was sealed by another secretsKey', { cause })
        })
      return new TextDecoder().decode(text)
    },
  }
}
