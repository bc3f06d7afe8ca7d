import { ConnectionFailure } from './connection-failure.ts'
import { loadNativeStreams } from './streams/native-streams.ts'
import {
  FRAME_OVERHEAD_BYTES,
  type KeyPair,
  type PulledStream,
  type SecretStreams,
  type SessionKeys,
  type Side,
  STREAM_HEADER_BYTES,
} from './streams/secret-streams.ts'
import { loadWebAssemblyStreams } from './streams/webassembly-streams.ts'

const PUBLIC_KEY_BYTES = 32
/** Frames of one direction: libsodium changes the key after the next, and the SDK for Go does not. */
const MOST_FRAMES = 2 ** 32 - 2

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

/** Loads the cryptography with the first connection that needs it: native code where its package is installed, else WebAssembly. */
export function loadEndToEnd(): Promise<EndToEnd> {
  loaded ??= loadNativeStreams().then(async (native) => endToEndBy(native ?? (await loadWebAssemblyStreams())))
  return loaded
}

/** The cryptography between two ends by one of the libraries. */
export function endToEndBy(streams: SecretStreams): EndToEnd {
  return {
    createKeyPair: () => streams.createKeyPair(),
    agree: (side, own, peerKey) => {
      if (peerKey?.length !== PUBLIC_KEY_BYTES) {
        throw new ConnectionFailure('NO_PEER_KEY', 'the other end sent no key, and this connection is encrypted')
      }
      try {
        return streams.agree(side, own, peerKey)
      } catch (cause) {
        // Keys of low order lead to a publicly known secret.
        throw new ConnectionFailure('NO_PEER_KEY', "the other end's key is none that can be used", { cause })
      }
    },
    encrypt: (key) => encryption(streams, key),
    decrypt: (key) => decryption(streams, key),
  }
}

function encryption(streams: SecretStreams, key: Uint8Array): Encryption {
  const stream = streams.push(key)
  let frames = 0
  return {
    header: stream.header,
    frame: (plain) => {
      frames += 1
      if (frames > MOST_FRAMES) throw new ConnectionFailure('CONNECTION_LOST', 'the connection carried 2^32 messages')
      return stream.seal(plain)
    },
    free: once(() => stream.free()),
  }
}

function decryption(streams: SecretStreams, key: Uint8Array): Decryption {
  let stream: PulledStream | undefined
  const refuse = () => new ConnectionFailure('DECRYPTION_FAILED', 'the bytes were changed between the two ends')
  return {
    open: (message) => {
      if (stream === undefined) {
        if (message.length !== STREAM_HEADER_BYTES) throw refuse()
        stream = streams.pull(message, key)
        return undefined
      }
      if (message.length < FRAME_OVERHEAD_BYTES) throw refuse()
      const plain = stream.open(message)
      if (plain === undefined) throw refuse()
      return plain
    },
    free: once(() => stream?.free()),
  }
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    work()
  }
}
