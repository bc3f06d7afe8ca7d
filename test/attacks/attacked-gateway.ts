import type { ServiceConnection } from 'portcullis/sdk'
import { servedGateway } from '../gateway/served-gateway.ts'
import type { Attacked } from './gateway-rows.ts'

/** Serves a gateway, in which ann has opened both apps. */
export async function attackedGateway(): Promise<Attacked> {
  const served = await servedGateway({ callerHeaders: { name: 'x-user' } })
  const host = served.net.as('host')
  const reached: Attacked['reached'] = []
  await host.host('payroll', (request, response) => {
    reached.push(request)
    request.resume().on('end', () => response.end('seen'))
  })
  const world: Attacked = {
    ...served,
    reached,
    answer: 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    ann: served.browser(),
  }
  await host.host('wiki', (connection: ServiceConnection) => {
    connection.on('error', () => undefined)
    connection.once('data', () => connection.end(world.answer))
  })
  await world.ann.logIn(`${served.origin('payroll')}/`, { username: 'ann', password: 'Correct-Horse-1' })
  await world.ann.goTo(`${served.origin('wiki')}/`)
  reached.length = 0
  return world
}
