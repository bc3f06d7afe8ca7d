import type * as Sodium from 'libsodium-wrappers'
import { ConnectionFailure } from './connection-failure.ts'

/** Bytes of a frame beyond its plain text: its tag and its authenticator. */
const FRAME_OVERHEAD_BYTES = 17
/** Bytes of the header that each direction begins with. */
const STREAM_HEADER_BYTES = 24
const PUBLIC_KEY_BYTES = 32
const STATE_BYTES = 52
/** Frames of one direction: libsodium changes the key after the next, and the SDK for Go does not. */
const MOST_FRAMES = 2 ** 32 - 2

/** A pair of keys by which one connection, or one hosted service, agrees on its secrets. */
export interface KeyPair {
  readonly publicKey: Uint8Array
  readonly secretKey: Uint8Array
}

/** The secrets of a connection, one for each direction. */
export interface SessionKeys {
  readonly receive: Uint8Array
  readonly send: Uint8Array
}

/** The side of the connection: the dialer is the client, the host is the server. */
export type Side = 'client' | 'server'

/**
 * The cryptography between two ends of a connection, which no router can read: keys are agreed on by X25519, and each direction is
 * a stream of XChaCha20-Poly1305 frames, as libsodium defines both.
 */
export interface EndToEnd {
  createKeyPair(): KeyPair
  /** The secrets that two ends share. Throws {@link ConnectionFailure} `NO_PEER_KEY` for an absent or invalid key of the other end. */
  agree(side: Side, own: KeyPair, peerKey: Uint8Array | undefined): SessionKeys
  encrypt(key: Uint8Array): Encryption
  decrypt(key: Uint8Array): Decryption
}

/** The sending half of one direction. */
export interface Encryption {
  /** The first message of the direction, unencrypted. */
  readonly header: Uint8Array
  frame(plain: Uint8Array): Uint8Array
  /** Frees the memory of the stream, which cannot be used afterwards. */
  free(): void
}

/** The receiving half of one direction. */
export interface Decryption {
  /**
   * Opens a message: the first holds no bytes. Throws {@link ConnectionFailure} `DECRYPTION_FAILED` for a message that the other end did
   * not send, or did not send at this position.
   */
  open(message: Uint8Array): Uint8Array | undefined
  free(): void
}

let loaded: Promise<EndToEnd> | undefined

/** Loads the cryptography with the first connection that needs it. */
export function loadEndToEnd(): Promise<EndToEnd> {
  loaded ??= import('libsodium-wrappers').then(async (module) => {
    // The package's functions are members of its default export in some builds, and of the module in others.
    const sodium: typeof Sodium = 'default' in module ? (module.default as typeof Sodium) : module
    await sodium.ready
    return endToEndBy(sodium)
  })
  return loaded
}

function endToEndBy(sodium: typeof Sodium): EndToEnd {
  const free = freeingBy(sodium)
  return {
    createKeyPair: () => {
      const { publicKey, privateKey } = sodium.crypto_kx_keypair()
      return { publicKey, secretKey: privateKey }
    },
    agree: (side, own, peerKey) => {
      if (peerKey?.length !== PUBLIC_KEY_BYTES) {
        throw new ConnectionFailure('NO_PEER_KEY', 'the other end sent no key, and this connection is encrypted')
      }
      const agree = side === 'client' ? sodium.crypto_kx_client_session_keys : sodium.crypto_kx_server_session_keys
      try {
        const { sharedRx, sharedTx } = agree(own.publicKey, own.secretKey, peerKey)
        return { receive: sharedRx, send: sharedTx }
      } catch (cause) {
        // Keys of low order lead to a publicly known secret.
        throw new ConnectionFailure('NO_PEER_KEY', "the other end's key is none that can be used", { cause })
      }
    },
    encrypt: (key) => encryption(sodium, key, free),
    decrypt: (key) => decryption(sodium, key, free),
  }
}

function encryption(sodium: typeof Sodium, key: Uint8Array, free: (state: Sodium.StateAddress) => void): Encryption {
  const { state, header } = sodium.crypto_secretstream_xchacha20poly1305_init_push(key)
  let frames = 0
  return {
    header,
    frame: (plain) => {
      frames += 1
      if (frames > MOST_FRAMES) throw new ConnectionFailure('CONNECTION_LOST', 'the connection carried 2^32 messages')
      return sodium.crypto_secretstream_xchacha20poly1305_push(state, plain, null, 0)
    },
    free: once(() => free(state)),
  }
}

function decryption(sodium: typeof Sodium, key: Uint8Array, free: (state: Sodium.StateAddress) => void): Decryption {
  let state: Sodium.StateAddress | undefined
  const refuse = () => new ConnectionFailure('DECRYPTION_FAILED', 'the bytes were changed between the two ends')
  return {
    open: (message) => {
      if (state === undefined) {
        if (message.length !== STREAM_HEADER_BYTES) throw refuse()
        state = sodium.crypto_secretstream_xchacha20poly1305_init_pull(message, key)
        return undefined
      }
      if (message.length < FRAME_OVERHEAD_BYTES) throw refuse()
      const opened = sodium.crypto_secretstream_xchacha20poly1305_pull(state, message, null)
      if (opened === false) throw refuse()
      return opened.message
    },
    free: once(() => state && free(state)),
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
    memory.HEAPU8?.fill(0, address, address + STATE_BYTES)
    memory._free(address)
  }
}

function isMemory(value: unknown): value is { readonly HEAPU8?: Uint8Array; _free(address: number): void } {
  return typeof value === 'object' && value !== null && '_free' in value && typeof value._free === 'function'
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    work()
  }
}
