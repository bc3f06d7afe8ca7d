// The load program: a process of its own that sends requests over TLS, one at a time on each connection, and measures how long
// each took. It speaks HTTP by itself, so that it costs less than what it measures.
import { connect, type TLSSocket } from 'node:tls'

/** A client certificate with its key, both PEM. */
export interface ClientCertificate {
  readonly key: string
  readonly cert: string
}

/** The request to send, and for how long. */
export interface Load {
  readonly port: number
  readonly connections: number
  readonly forMs: number
  /** Sends at most this number. */
  readonly most: number
  /** Whether each request opens a connection of its own. */
  readonly isNewEach: boolean
  /** Requests as they go over the wire, taken in turns from the given place on. */
  readonly requests: readonly string[]
  readonly from: number
  /** A request that follows each of them on its connection, with the token or the id of its answer in place of `{token}` and `{id}`. */
  readonly followedBy?: string
  /** Connection by connection. */
  readonly certificates: readonly ClientCertificate[]
}

/** The answers, counted. */
export interface LoadOutcome {
  readonly count: number
  readonly elapsedMs: number
  readonly p50: number
  readonly p99: number
  /** The last answer, head and body as they came. */
  readonly answer: string
  /** The first line of an answer that is none of success, and its body. */
  readonly failure: string | undefined
}

process.on('message', (load: Load) => {
  run(load).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})

async function run(load: Load): Promise<LoadOutcome> {
  const { requests, connections, forMs, most, isNewEach } = load
  const times: number[] = []
  let answer = ''
  let failure: string | undefined
  let sent = 0
  const sockets = isNewEach
    ? []
    : await Promise.all(Array.from({ length: connections }, (_, index) => open(load, index)))
  const begin = performance.now()
  const client = async (index: number) => {
    while (performance.now() - begin < forMs && sent < most) {
      const request = requests[(load.from + sent) % requests.length] ?? ''
      sent += 1
      const at = performance.now()
      const socket = sockets[index] ?? (await open(load, index))
      const first = await exchange(socket, request)
      const text = load.followedBy === undefined ? first : await exchange(socket, filledIn(load.followedBy, first))
      if (isNewEach) socket.end()
      times.push(performance.now() - at)
      answer = text
      if (!/^HTTP\/1\.1 2/.test(text)) failure ??= text.replace(/\r\n.*\r\n\r\n/s, ' ')
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => client(index)))
  const elapsedMs = performance.now() - begin
  for (const socket of sockets) socket.destroy()
  times.sort((a, b) => a - b)
  const quantile = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN
  return { count: times.length, elapsedMs, p50: quantile(0.5), p99: quantile(0.99), answer, failure }
}

function open({ port, certificates }: Load, index: number): Promise<TLSSocket> {
  const certificate = certificates[index % certificates.length]
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...certificate })
    socket
      .setNoDelay()
      .once('error', reject)
      .once('secureConnect', () => resolve(socket))
  })
}

function filledIn(request: string, answer: string): string {
  const of = (name: string) => new RegExp(`"${name}":"([^"]+)"`).exec(answer)?.[1] ?? ''
  return request.replace('{token}', of('token')).replace('{id}', of('id'))
}

/** Sends a request and resolves with the text of the whole answer, whose length its head tells. */
function exchange(socket: TLSSocket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let missing = Number.NaN
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      if (Number.isNaN(missing)) {
        const text = Buffer.concat(chunks).toString('latin1')
        const headEnd = text.indexOf('\r\n\r\n')
        if (headEnd === -1) return
        const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? '0'
        missing = headEnd + 4 + Number(length) - text.length
      } else missing -= chunk.length
      if (missing > 0) return
      socket.off('data', onData).off('close', onClose)
      resolve(Buffer.concat(chunks).toString('latin1'))
    }
    const onClose = () =>
      reject(new Error(`the server closed the connection before it answered ${request.slice(0, 80)}`))
    socket.on('data', onData).once('close', onClose)
    socket.write(request)
  })
}
