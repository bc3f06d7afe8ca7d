import type { Server } from 'node:https'
import type { TLSSocket } from 'node:tls'

/** The takers of the sockets of a port that speaks several protocols. */
export interface PortSharing {
  /** By the ALPN protocol that was agreed on. */
  readonly byProtocol: ReadonlyMap<string, (socket: TLSSocket) => void>
  /** Clients without ALPN, known by their first bytes. With other first bytes a client speaks HTTP. */
  readonly byFirstBytes?: { readonly bytes: Uint8Array; readonly take: (socket: TLSSocket) => void }
  /** Called with every socket that is not for HTTP. */
  readonly onTaken: (socket: TLSSocket) => void
  /** Milliseconds for a client without ALPN to send its first bytes. */
  readonly firstBytesMs: number
}

/** Hands sockets of a server to the takers of other protocols. The server answers the remaining sockets as before. */
export function sharePort(server: Server, { byProtocol, byFirstBytes, onTaken, firstBytesMs }: PortSharing): void {
  const ofApis = server.listeners('secureConnection')
  const serve = (socket: TLSSocket) => {
    for (const listener of ofApis) listener.call(server, socket)
  }
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    const { alpnProtocol } = socket
    const take = typeof alpnProtocol === 'string' ? byProtocol.get(alpnProtocol) : undefined
    if (take !== undefined) {
      onTaken(socket)
      take(socket)
    } else if (byFirstBytes === undefined || typeof alpnProtocol === 'string') serve(socket)
    else {
      firstBytesOf(socket, byFirstBytes.bytes, firstBytesMs, (isTheirs) => {
        if (!isTheirs) return serve(socket)
        onTaken(socket)
        byFirstBytes.take(socket)
      })
    }
  })
}

/** Tells whether a client begins with some bytes, and leaves them to be read. */
function firstBytesOf(socket: TLSSocket, bytes: Uint8Array, ms: number, tell: (isSame: boolean) => void): void {
  let read = Buffer.alloc(0)
  const timer = setTimeout(() => socket.destroy(), ms)
  timer.unref()
  const onError = () => socket.destroy()
  const settle = () => {
    clearTimeout(timer)
    socket.off('data', onData)
    socket.off('close', settle)
    socket.off('error', onError)
  }
  const onData = (chunk: Buffer) => {
    read = Buffer.concat([read, chunk])
    const common = Math.min(read.length, bytes.length)
    const isSame = read.subarray(0, common).equals(bytes.subarray(0, common))
    if (isSame && common < bytes.length) return
    settle()
    socket.pause()
    socket.unshift(read)
    tell(isSame)
    socket.resume()
  }
  socket.on('error', onError)
  socket.on('close', settle)
  socket.on('data', onData)
}
