import type { HostedService, ServiceConnection } from 'portcullis/sdk'
import { createTestController } from 'portcullis/testing'
import { expect, it, onTestFinished } from 'vitest'
import { NETWORK_MODEL } from '../sdk/network-model.ts'
import { MortalIdentity } from './mortal-identity.ts'

const MINUTE_MS = 60_000
const { edgeRouterPolicies: _own, serviceEdgeRouterPolicies: _policies, ...model } = NETWORK_MODEL

it('a service is hosted again after the router was away when a session ended and no other could be begun', async () => {
  const net = await createTestController({ router: true, model })
  const mortal = await MortalIdentity.atRouter(net, 'api-session', ['hosts'])
  onTestFinished(() => mortal.close())
  const identity = await mortal.identity()
  let hosted: HostedService | undefined
  const begun = identity
    .host('plain', (connection: ServiceConnection) => void connection.end())
    .then((one) => {
      hosted = one
    })
  expect(await mortal.outcome(begun)).toBe('done')
  mortal.faultOf = ({ name }) =>
    ['connect', 'POST /edge/client/v1/authenticate'].includes(name)
      ? { way: 'fails', isDone: false, forMs: 0, afterMs: name === 'connect' ? 20_000 : 0 }
      : undefined
  mortal.loseRouters()
  await mortal.elapse(5000)
  // The way to the router is being opened meanwhile.
  const { id } = (await identity.client.call('GET /current-api-session')).data
  await net.admin.call('DELETE /api-sessions/{id}', { params: { id } })
  expect(await mortal.outcome(identity.client.call('GET /services'))).toBeInstanceOf(Error)
  await mortal.elapse(MINUTE_MS)
  expect(hosted?.routers).toEqual([])
  mortal.faultOf = () => undefined
  await mortal.elapse(5 * MINUTE_MS)
  expect(hosted?.routers).toHaveLength(1)
})

it('a session is not begun to be forgotten: a dial that loses session and router logs in once', async () => {
  const net = await createTestController({ router: true, model })
  const mortal = await MortalIdentity.atRouter(net, 'api-session', ['clients'])
  onTestFinished(() => mortal.close())
  const identity = await mortal.identity()
  await identity.services()
  const { id } = (await identity.client.call('GET /current-api-session')).data
  let isAway = true
  const logins: string[] = []
  mortal.faultOf = ({ name }) => {
    if (name.endsWith('/authenticate') && !isAway) logins.push(name)
    const isFault = name === 'connect' || (name.endsWith('/authenticate') && isAway)
    return isFault ? { way: 'fails', isDone: false, forMs: 0, afterMs: name === 'connect' ? 5000 : 0 } : undefined
  }
  const dialed = identity.dial('plain')
  dialed.catch(() => undefined)
  await mortal.elapse(1000)
  await net.admin.call('DELETE /api-sessions/{id}', { params: { id } })
  expect(await mortal.outcome(identity.client.call('GET /services'))).toBeInstanceOf(Error)
  isAway = false
  expect(await mortal.outcome(dialed)).toBeInstanceOf(Error)
  expect(logins).toHaveLength(1)
})
