// The floor: TLS connections are taken, and piped to another port over TLS. Its first message has the port and the certificates.
import { connect, createServer } from 'node:tls'

interface Pipe {
  readonly port: number
  readonly key: string
  readonly cert: string
  readonly ca: string
}

process.once('message', ({ port, key, cert, ca }: Pipe) => {
  const server = createServer({ key, cert }, (client) => {
    const host = connect({ port, host: '127.0.0.1', ca, key, cert })
    client.setNoDelay(true).pipe(host.setNoDelay(true)).pipe(client)
    client.on('error', () => host.destroy()).on('close', () => host.destroy())
    host.on('error', () => client.destroy()).on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()))
  process.on('message', () => {
    globalThis.gc?.()
    process.send?.({})
  })
})
