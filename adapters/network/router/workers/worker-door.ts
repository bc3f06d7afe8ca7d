import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { AcceptedSocket } from '../links/links.ts'
import { SETUP_MS } from '../state/opened-socket.ts'

/** The facts of a peer's TLS socket, without the socket. */
export type SocketFacts = Omit<AcceptedSocket, 'stream'>

/** The first words on a socket between two workers. */
export type Preface =
  /** A local link with the worker that dials. */
  | { readonly kind: 'worker'; readonly index: number }
  /** A connection of an endpoint or another router that the dialing worker accepted: what follows are its decrypted bytes. */
  | { readonly kind: 'endpoint' | 'link'; readonly facts: SocketFacts }

/** Bytes of a preface: the certificates of a peer are the most of it. */
const MOST_BYTES = 1_048_576
const LENGTH_BYTES = 4

/** Opens a socket to another worker of this router. Rejects where it does not answer. */
export async function dialWorker(path: string, preface: Preface): Promise<Socket> {
  const socket = connect(path)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const text = Buffer.from(JSON.stringify(written(preface)))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(text.length)
  socket.write(Buffer.concat([length, text]))
  return socket
}

/**
 * Listens for the other workers at a path in a folder of the router's own. `taken` gets each socket behind its preface; the socket is paused.
 */
export async function openDoor(path: string, taken: (socket: Socket, preface: Preface) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    const cancel = runtime.timer(SETUP_MS, () => socket.destroy())
    takeBytes(socket, prefaceBytes, (bytes) => {
      cancel()
      const preface = readPreface(bytes.subarray(LENGTH_BYTES))
      if (preface === undefined) socket.destroy()
      else taken(socket, preface)
    })
  })
  server.listen(path)
  await once(server, 'listening')
  return server
}

/**
 * Takes the first bytes of a stream, as many as `needed` says of the bytes that are there, and pauses the stream; later bytes stay in it.
 * `needed` answers undefined while it cannot tell. A number that is not positive ends the stream.
 */
export function takeBytes(
  stream: Duplex,
  needed: (bytes: Buffer) => number | undefined,
  taken: (bytes: Buffer) => void,
): void {
  let room = Buffer.alloc(0)
  let arrived = 0
  const add = (piece: Uint8Array) => {
    // A peer that sends single bytes costs neither an object nor a copy of all before it for each.
    if (arrived + piece.length > room.length) {
      const larger = Buffer.alloc(Math.max(2 * room.length, arrived + piece.length))
      larger.set(room.subarray(0, arrived))
      room = larger
    }
    room.set(piece, arrived)
    arrived += piece.length
    const bytes = room.subarray(0, arrived)
    const length = needed(bytes)
    if (length !== undefined && length <= 0) stream.destroy()
    if (length === undefined || length <= 0 || arrived < length) return
    stream.off('data', add)
    stream.pause()
    const rest = bytes.subarray(length)
    if (rest.length > 0) stream.unshift(rest)
    taken(bytes.subarray(0, length))
  }
  stream.on('data', add)
  stream.resume()
}

function prefaceBytes(bytes: Buffer): number | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined
  const length = bytes.readUInt32LE()
  return length > MOST_BYTES ? 0 : LENGTH_BYTES + length
}

function written(preface: Preface) {
  if (preface.kind === 'worker') return preface
  const { facts, kind } = preface
  return { kind, facts: { ...facts, chain: facts.chain.map((der) => Buffer.from(der).toString('base64')) } }
}

/** Undefined for words of no worker. */
function readPreface(bytes: Buffer): Preface | undefined {
  try {
    const { kind, index, facts } = Object(JSON.parse(bytes.toString()))
    if (kind === 'worker' && typeof index === 'number') return { kind, index }
    if (kind !== 'endpoint' && kind !== 'link') return undefined
    const { chain, localAddress, remoteAddress, remoteHost } = Object(facts)
    const ends = { localAddress: String(localAddress), remoteAddress: String(remoteAddress) }
    const certificates = [...chain].map((der) => new Uint8Array(Buffer.from(String(der), 'base64')))
    return { kind, facts: { ...ends, chain: certificates, remoteHost: String(remoteHost) } }
  } catch {
    return undefined
  }
}
