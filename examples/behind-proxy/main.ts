import { once } from 'node:events'
import { createServer } from 'node:http'
import { createController } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { createListener, openPkiDirectory, tlsOptions } from 'portcullis/node'
import { connectionBehindProxy } from './connection.ts'
import { createProxy } from './proxy.ts'

const { FOLDER: folder = '.proxy-example', PORT = '1280', INNER_PORT, ADMIN_PASSWORD: password } = process.env
if (password === undefined) throw new Error('ADMIN_PASSWORD is the password of the first admin: set it')
const port = Number(PORT)
const pki = await openPkiDirectory(`${folder}/pki`)
const controller = await createController({
  pki,
  storage: await sqliteStorage(`${folder}/network.sqlite`),
  // Clients call the proxy.
  address: `localhost:${port}`,
  admin: { username: 'admin', password },
})

// Bound to the loopback interface: nobody but a proxy on this machine can claim a certificate.
const inner = createServer(createListener(controller.fetch, { connectionInfo: connectionBehindProxy }))
await once(inner.listen(Number(INNER_PORT ?? 0), '127.0.0.1'), 'listening')
const address = inner.address()
const innerPort = typeof address === 'object' && address !== null ? address.port : 0

// With INNER_PORT a proxy of your own stands in front: see nginx.conf.
const tls = tlsOptions(controller.tls())
const proxy = INNER_PORT === undefined ? createProxy(tls, { port: innerPort }).listen(port) : undefined
if (proxy !== undefined) await once(proxy, 'listening')

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    // Requests in flight are answered first: a server that closes waits for them.
    for (const server of [proxy, inner]) {
      server?.close()
      server?.closeIdleConnections()
    }
    await once(inner, 'close')
    await controller.close()
  })
}

console.log(
  `http://127.0.0.1:${innerPort} is served for a proxy` +
    (proxy === undefined ? '' : `; https://localhost:${port} is one`) +
    `; the trust bundle is ${folder}/pki/ca.pem`,
)
