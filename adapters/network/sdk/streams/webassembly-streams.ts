import type * as Sodium from 'libsodium-wrappers'
import { type SecretStreams, STREAM_STATE_BYTES } from './secret-streams.ts'

/** Loads libsodium as WebAssembly, which runs everywhere. */
export async function loadWebAssemblyStreams(): Promise<SecretStreams> {
  const module = await import('libsodium-wrappers')
  // The package's functions are members of its default export in some builds, and of the module in others.
  const sodium: typeof Sodium = 'default' in module ? (module.default as typeof Sodium) : module
  await sodium.ready
  const free = freeingBy(sodium)
  return {
    createKeyPair: () => {
      const { publicKey, privateKey } = sodium.crypto_kx_keypair()
      return { publicKey, secretKey: privateKey }
    },
    agree: (side, own, peerKey) => {
      const agree = side === 'client' ? sodium.crypto_kx_client_session_keys : sodium.crypto_kx_server_session_keys
      const { sharedRx, sharedTx } = agree(own.publicKey, own.secretKey, peerKey)
      return { receive: sharedRx, send: sharedTx }
    },
    push: (key) => {
      const { state, header } = sodium.crypto_secretstream_xchacha20poly1305_init_push(key)
      return {
        header,
        seal: (plain) => sodium.crypto_secretstream_xchacha20poly1305_push(state, plain, null, 0),
        free: () => free(state),
      }
    },
    pull: (header, key) => {
      const state = sodium.crypto_secretstream_xchacha20poly1305_init_pull(header, key)
      return {
        open: (frame) => {
          const opened = sodium.crypto_secretstream_xchacha20poly1305_pull(state, frame, null)
          return opened === false ? undefined : opened.message
        },
        free: () => free(state),
      }
    },
  }
}

/**
 * Answers a function that frees the state of a stream: the library keeps 52 bytes of each direction for ever, but its WebAssembly module
 * can free them.
 */
function freeingBy(sodium: typeof Sodium): (state: Sodium.StateAddress) => void {
  const memory: unknown = Reflect.get(sodium, 'libsodium')
  if (!isMemory(memory)) return () => undefined
  return (state) => {
    // The types declare an object; at run time it is a number.
    const address: unknown = typeof state === 'number' ? state : state.address
    if (typeof address !== 'number') return
    memory.HEAPU8?.fill(0, address, address + STREAM_STATE_BYTES)
    memory._free(address)
  }
}

function isMemory(value: unknown): value is { readonly HEAPU8?: Uint8Array; _free(address: number): void } {
  return typeof value === 'object' && value !== null && '_free' in value && typeof value._free === 'function'
}
