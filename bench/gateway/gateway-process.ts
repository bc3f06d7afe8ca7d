// A controller, its router, a host of the app and the gateway, in one process. Its first message has the port of the app.
import { connect } from 'node:net'
import type { ServiceConnection } from 'portcullis/sdk'
import { servedGateway } from '../../test/gateway/served-gateway.ts'

process.once('message', async ({ app }: { readonly app: number }) => {
  const { net, loggedIn, port } = await servedGateway()
  await net.as('host').host('payroll', (connection: ServiceConnection) => {
    const socket = connect({ port: app, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    connection.pipe(socket).pipe(connection)
    socket.on('error', () => connection.destroy())
    connection.on('error', () => socket.destroy())
  })
  const browser = await loggedIn()
  process.send?.({ port, cookie: browser.cookieFor('payroll.apps.test') })
})
