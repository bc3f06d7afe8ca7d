import { FRAME_OVERHEAD_BYTES, type SecretStreams, STREAM_HEADER_BYTES, STREAM_STATE_BYTES } from './secret-streams.ts'

/** Functions of the package `sodium-native`: they write into the arrays that they are given, and throw where libsodium answers -1. */
interface SodiumNative {
  crypto_kx_keypair(publicKey: Uint8Array, secretKey: Uint8Array): void
  crypto_kx_client_session_keys(...keys: readonly Uint8Array[]): void
  crypto_kx_server_session_keys(...keys: readonly Uint8Array[]): void
  crypto_secretstream_xchacha20poly1305_init_push(state: Uint8Array, header: Uint8Array, key: Uint8Array): void
  crypto_secretstream_xchacha20poly1305_init_pull(state: Uint8Array, header: Uint8Array, key: Uint8Array): void
  crypto_secretstream_xchacha20poly1305_push(
    state: Uint8Array,
    frame: Uint8Array,
    plain: Uint8Array,
    added: null,
    tag: number,
  ): void
  crypto_secretstream_xchacha20poly1305_pull(
    state: Uint8Array,
    plain: Uint8Array,
    tag: Uint8Array,
    frame: Uint8Array,
    added: null,
  ): number
  sodium_memzero(bytes: Uint8Array): void
}

/** A variable: bundlers of hosts without the package would refuse its name. */
const PACKAGE: string = 'sodium-native'
const KEY_BYTES = 32
/** The tag of an ordinary message. */
const MESSAGE = 0

/** Loads libsodium as native code of the package `sodium-native`; undefined where that is not installed, or has no build for the machine. */
export async function loadNativeStreams(): Promise<SecretStreams | undefined> {
  const module: { readonly default?: SodiumNative } | undefined = await import(PACKAGE).catch(() => undefined)
  return module?.default && streamsBy(module.default)
}

function streamsBy(sodium: SodiumNative): SecretStreams {
  const newState = () => Buffer.alloc(STREAM_STATE_BYTES)
  return {
    createKeyPair: () => {
      const [publicKey, secretKey] = [new Uint8Array(KEY_BYTES), new Uint8Array(KEY_BYTES)]
      sodium.crypto_kx_keypair(publicKey, secretKey)
      return { publicKey, secretKey }
    },
    agree: (side, own, peerKey) => {
      const [receive, send] = [new Uint8Array(KEY_BYTES), new Uint8Array(KEY_BYTES)]
      const keys = [receive, send, own.publicKey, own.secretKey, peerKey]
      if (side === 'client') sodium.crypto_kx_client_session_keys(...keys)
      else sodium.crypto_kx_server_session_keys(...keys)
      return { receive, send }
    },
    push: (key) => {
      const [state, header] = [newState(), new Uint8Array(STREAM_HEADER_BYTES)]
      sodium.crypto_secretstream_xchacha20poly1305_init_push(state, header, key)
      return {
        header,
        seal: (plain) => {
          const frame = Buffer.allocUnsafe(plain.length + FRAME_OVERHEAD_BYTES)
          sodium.crypto_secretstream_xchacha20poly1305_push(state, frame, plain, null, MESSAGE)
          return frame
        },
        free: () => sodium.sodium_memzero(state),
      }
    },
    pull: (header, key) => {
      const [state, tag] = [newState(), new Uint8Array(1)]
      sodium.crypto_secretstream_xchacha20poly1305_init_pull(state, header, key)
      return {
        open: (frame) => {
          const plain = Buffer.allocUnsafe(frame.length - FRAME_OVERHEAD_BYTES)
          try {
            const length = sodium.crypto_secretstream_xchacha20poly1305_pull(state, plain, tag, frame, null)
            return length === plain.length ? plain : undefined
          } catch {
            return undefined
          }
        },
        free: () => sodium.sodium_memzero(state),
      }
    },
  }
}
