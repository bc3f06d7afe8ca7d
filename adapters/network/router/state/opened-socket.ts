import { once } from 'node:events'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, connect, type TLSSocket } from 'node:tls'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { ChannelSocket, type SocketLimits } from '../../channel/channel-socket.ts'
import { encodeFrame, type Frame, type FrameLimits } from '../../channel/frame.ts'

/** Keys and certificates of a router, PEM. */
export interface RouterCredentials {
  readonly key: string
  /** The certificate that the router shows when it dials, leaf first. */
  readonly clientCert: string
  /** The certificate that it shows when it is dialed, leaf first. */
  readonly serverCert: string
  /** The authorities of its network. */
  readonly ca: string
}

/** A socket whose first frame has come; it is paused, and its taker resumes it. */
export interface OpenedSocket {
  readonly socket: ChannelSocket
  readonly frame: Frame
}

/** Milliseconds for TLS and hello together, on either side. */
export const SETUP_MS = 5000
/** The most bytes that a peer may send before it is identified. */
const HELLO_LIMITS: FrameLimits = { headers: 16_384, body: 4192 }

/** The message of the error when the other end closes instead of answering. */
export const CLOSED_SILENTLY = 'the connection was closed'

/** Waits for the first frame of a stream. Rejects on a late or malformed frame; the stream is closed then. */
export function firstFrame(stream: Duplex, limits: SocketLimits, waitMs = SETUP_MS): Promise<OpenedSocket> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      giveUp()
      socket.destroy()
      reject(new Error(why))
    }
    const giveUp = runtime.timer(waitMs, () => fail('no first message in time'))
    const socket: ChannelSocket = new ChannelSocket(stream, limits, HELLO_LIMITS, {
      onMessage: (frame) => {
        giveUp()
        socket.pause()
        // A peer that sends before it is admitted is no router.
        socket.admit(limits.frame, { onMessage: () => socket.destroy(), onClose: () => undefined })
        resolve({ socket, frame })
      },
      onTrouble: (what) => fail(`the first message is a ${what}`),
      onClose: () => fail(CLOSED_SILENTLY),
    })
  })
}

/** A stream to another router or a controller, with its ends where it is a socket. */
export type DialedStream = Duplex &
  Partial<Pick<TLSSocket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>>

/** Opens a stream to an address such as `tls:router.example.org:10080`. Its ends have shown their certificates when it resolves. */
export type OpensStream = (dial: Omit<SocketDial, 'limits' | 'hello'>) => Promise<DialedStream>

/** The address and the settings of a dial. */
export interface SocketDial {
  /** For example `tls:router.example.org:10080`. */
  readonly address: string
  readonly alpn: string
  /** Refuses the certificate of the other end for a host; by default its names have to hold the host. */
  readonly checkServerIdentity?: typeof checkServerIdentity
  readonly credentials: RouterCredentials
  readonly limits: SocketLimits
  readonly hello: Frame
}

/**
 * Opens a socket to a router or controller of the network, says hello and waits for the answer. Rejects without an answer in time, or
 * without a certificate of the network for this address.
 */
export async function dialSocket(
  dial: SocketDial,
  open: OpensStream = overTls,
): Promise<OpenedSocket & { readonly stream: DialedStream }> {
  const stream = await open(dial)
  const answered = firstFrame(stream, dial.limits)
  stream.write(Buffer.concat(encodeFrame(dial.hello)))
  return { ...(await answered), stream }
}

async function overTls(dial: Parameters<OpensStream>[0]): Promise<TLSSocket> {
  const { address, alpn, credentials } = dial
  const { host, port } = dialedHost(address)
  const { key, clientCert: cert, ca } = credentials
  const names = isIP(host) === 0 ? { servername: host } : {}
  const check = dial.checkServerIdentity ?? checkServerIdentity
  const stream = connect({ host, port, key, cert, ca, ALPNProtocols: [alpn], checkServerIdentity: check, ...names })
  const giveUp = runtime.timer(SETUP_MS, () => stream.destroy(new Error('no TLS connection in time')), true)
  try {
    await once(stream, 'secureConnect')
  } finally {
    giveUp()
  }
  stream.setNoDelay(true)
  stream.setKeepAlive(true, 15_000)
  return stream
}

/** The host and port of an address of the network. Throws for another protocol. */
export function dialedHost(address: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port = ''] = /^tls:(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(address) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) throw new Error(`an address such as tls:host:port, not ${address}`)
  return { host, port: Number(port) }
}
