import { decodeJwt } from 'jose'
import { routerSide } from 'portcullis/fabric'
import { bodyOf } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { dialed, dialedBy, logIn, registered, sdkWorld, sessionOf } from './sdk-world.ts'

const { CONTENT_TYPE, HEADER } = routerSide
const UNKNOWN = [
  ['begins as a JWT does', 'eyJhbGciOiJFUzI1NiJ9'],
  ['has the parts of a JWT', 'eyJhbGciOiJFUzI1NiJ9.eyJ6X3QiOiJhIn0.AAAA'],
  ['is an id', '3f2504e0-4f89-41d3-9a0c-0305e82c3301'],
  ['is empty', ''],
] as const

it.each(UNKNOWN)('a router that presents what %s is refused, and the controller serves on', async (_what, text) => {
  const { world, router, serviceId } = await sdkWorld()
  const apiToken = await logIn(world, 'client')
  const good = await sessionOf(world, apiToken, serviceId, 'Dial')
  const first = async (apiSessionToken: string, sessionToken: string) => {
    const body = routerSide.CreateCircuit.encode({ apiSessionToken, sessionToken })
    const answer = await router.request(CONTENT_TYPE.createCircuit, body)
    return answer.contentType === CONTENT_TYPE.error ? new TextDecoder().decode(bodyOf(answer)) : ''
  }
  const second = async (api: string, session: string) =>
    (await dialedBy(router, { apiToken: api, token: session })).refused
  const third = async (api: string) => {
    const headers = { [HEADER.circuitApiSessionToken]: api, [HEADER.circuitServiceId]: serviceId }
    return (await dialed(router, CONTENT_TYPE.createCircuitV3, headers)).refused
  }
  for (const ask of [first, second]) {
    expect(await ask(text, good.token)).toBe('invalid api session')
    // An endpoint that hears this asks for its service session anew.
    expect(await ask(apiToken, text)).toBe('invalid session')
  }
  expect(await third(text)).toBe('invalid api session')
  expect((await registered(router, { apiToken: text, token: good.token }, 'another')).result).not.toBe('success')
  expect((await registered(router, { apiToken, token: text }, 'another')).result).not.toBe('success')
  expect((await dialedBy(router, good)).circuitId).toBeDefined()
})

it('a service session that is asked for again is the one that its token names, and is good for a dial', async () => {
  const { world, router, serviceId } = await sdkWorld()
  const apiToken = await logIn(world, 'client')
  for (let round = 0; round < 2; round += 1) {
    const { id, token } = await sessionOf(world, apiToken, serviceId, 'Dial')
    expect(decodeJwt(token).jti).toBe(id)
    expect((await world.call('GET', `/sessions/${id}`)).id).toBe(id)
    expect((await dialedBy(router, { token, apiToken })).circuitId).toBeDefined()
  }
})
