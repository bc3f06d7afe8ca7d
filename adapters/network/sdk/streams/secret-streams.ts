/** Bytes of a frame beyond its plain text: its tag and its authenticator. */
export const FRAME_OVERHEAD_BYTES = 17
/** Bytes of the header that each direction begins with. */
export const STREAM_HEADER_BYTES = 24
/** Bytes of the state of one direction. */
export const STREAM_STATE_BYTES = 52

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

/** Functions of libsodium: `crypto_kx`, and `crypto_secretstream_xchacha20poly1305` without rekeying and without tags. */
export interface SecretStreams {
  createKeyPair(): KeyPair
  /** Throws for a key of the other end that leads to a publicly known secret. */
  agree(side: Side, own: KeyPair, peerKey: Uint8Array): SessionKeys
  /** The sending half of a stream. */
  push(key: Uint8Array): PushedStream
  /** The receiving half of a stream, by its header. */
  pull(header: Uint8Array, key: Uint8Array): PulledStream
}

/** The state of the sending half of a stream. */
export interface PushedStream {
  readonly header: Uint8Array
  seal(plain: Uint8Array): Uint8Array
  /** Erases the state, which cannot be used afterwards. */
  free(): void
}

/** The state of the receiving half of a stream. */
export interface PulledStream {
  /** The plain text of a frame; undefined for a frame that was changed, or is not the next one. */
  open(frame: Uint8Array): Uint8Array | undefined
  /** Erases the state, which cannot be used afterwards. */
  free(): void
}
