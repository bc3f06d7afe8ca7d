import type { Duplex } from 'node:stream'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromHolder, ProcessProofs, ProcessSide, ToHolder } from '../../../../src/control-channel.ts'
import { ChannelSocket, type SocketLimits } from '../../channel/channel-socket.ts'
import type { Frame, FrameLimits } from '../../channel/frame.ts'
import { HELLO_LIMITS } from '../hello.ts'
import type { WireMessage } from '../messages/message-row.ts'
import { PROCESS_TYPE, textMessage, textOf, writeProcessMessage } from './process-messages.ts'

/** A socket between two processes, with the value that identifies its TLS connection. */
export interface ProcessSocket {
  readonly stream: Duplex
  readonly binding: Uint8Array
}

/** Milliseconds for the proofs of both sides. */
const PROOF_MS = 5000
/** Milliseconds between heartbeats, and of silence after which the other process is given up. */
const BEAT_MS = 5000
const SILENCE_MS = 15_000
/** A message of a router, with room for the name of the router. */
const FRAME: FrameLimits = { headers: 1024 * 1024 + 4096, body: 32 * 1024 * 1024 }
const LIMITS: SocketLimits = {
  frame: FRAME,
  outgoing: { bytes: 256 * 1024 * 1024, stallMs: 15_000 },
  // The other process is trusted: it passes on the messages of hundreds of routers.
  rate: { perSecond: 1_000_000, burst: 1_000_000 },
}

/** Frames between two processes that proved to each other that they share a store. */
export class ProcessConnection {
  readonly #socket: ChannelSocket
  readonly #stopBeating: () => void
  #sequence = 0

  /** Listens for messages; `received` may throw for a malformed message, which ends the connection: `closed` gets the error. */
  constructor(socket: ChannelSocket, received: (frame: Frame) => void, closed: (failure: unknown) => void) {
    let failure: unknown
    this.#socket = socket
    this.#stopBeating = runtime.interval(BEAT_MS, () => this.#beat())
    socket.admit(FRAME, {
      onMessage: (frame) => {
        if (frame.contentType === PROCESS_TYPE.heartbeat) return
        try {
          received(frame)
        } catch (error) {
          failure = error
          socket.destroy()
        }
      },
      onClose: () => {
        this.#stopBeating()
        closed(failure)
      },
    })
  }

  send(message: ToHolder | FromHolder): void {
    const written = writeProcessMessage(message)
    if (written !== undefined) this.#write(written)
  }

  close(): void {
    this.#socket.close()
  }

  #beat(): void {
    if (runtime.monotonic() - this.#socket.heardAt > SILENCE_MS) this.#socket.destroy()
    else this.#write(textMessage(PROCESS_TYPE.heartbeat, ''))
  }

  #write(message: WireMessage): void {
    this.#sequence = (this.#sequence + 1) & 0x7f_ff_ff_ff
    this.#socket.send({ ...message, sequence: this.#sequence })
  }
}

/**
 * Proves to the peer that this process serves the store, and requires the same proof; answers the socket, paused, and the address of the other
 * process, empty where the peer is of version 0.3.0 or before. The dialer speaks first: a stranger must not get a proof of the other side.
 * Rejects, with the socket closed, for any other peer.
 */
export async function provenSocket(
  { stream, binding }: ProcessSocket,
  side: ProcessSide,
  proofs: ProcessProofs,
): Promise<{ readonly socket: ChannelSocket; readonly address: string }> {
  let heard: (frame: Frame) => void = () => undefined
  let lost: (reason: Error) => void = () => undefined
  const first = new Promise<Frame>((resolve, reject) => {
    heard = resolve
    lost = reject
  })
  // It may reject before it is awaited.
  first.catch(() => undefined)
  const cancel = runtime.timer(PROOF_MS, () => socket.destroy())
  const socket = new ChannelSocket(stream, LIMITS, HELLO_LIMITS, {
    onMessage: (frame) => {
      socket.pause()
      heard(frame)
    },
    onClose: () => lost(new Error('the connection was closed before the other process proved to be one')),
  })
  try {
    const prove = async () => {
      const proof = textMessage(PROCESS_TYPE.proof, await proofs.prove(side, binding))
      socket.send({ ...proof, sequence: 0 })
    }
    if (side === 'dialed') await prove()
    const frame = await first
    const isProof = frame.contentType === PROCESS_TYPE.proof
    const address = isProof
      ? await proofs.verify(textOf(frame), side === 'dialed' ? 'accepted' : 'dialed', binding)
      : undefined
    if (address === undefined) throw new Error('the other side is no other process over the same store')
    if (side === 'accepted') await prove()
    return { socket, address }
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    cancel()
  }
}
