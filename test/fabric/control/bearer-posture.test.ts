import { routerSide } from 'portcullis/fabric'
import { bodyOf, TEST_ADMIN } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { mountOf } from '../../support/mount.ts'
import { bearing, openIdTokens } from '../../support/openid.ts'
import { fabricWorld, host, tunnelNetwork } from './fabric-world.ts'

const { CONTENT_TYPE } = routerSide

it('a bearer session whose posture its router cannot judge is judged here, and refused where nothing passes', async () => {
  const world = await fabricWorld()
  const { serviceId, dial } = await tunnelNetwork(world)
  const hosting = await world.router('hosting', { fields: { isTunnelerEnabled: true } })
  await host(hosting, serviceId)
  // A router that tells no capability is one of the line 1.6: it takes the token and asks nothing.
  const older = await world.router('older', { capabilities: [] })
  const mounted = mountOf(world.controller)
  const { access_token } = await openIdTokens(mounted, TEST_ADMIN)
  const body = JSON.stringify({ serviceId, type: 'Dial' })
  const headers = { 'content-type': 'application/json' }
  const session = await bearing(mounted, access_token, '/edge/client/v1/sessions', { method: 'POST', headers, body })
  const { data } = (await session.json()) as { readonly data: { readonly token: string } }
  const ask = async () => {
    const request = { apiSessionToken: access_token, sessionToken: data.token }
    const answer = await older.request(CONTENT_TYPE.createCircuit, routerSide.CreateCircuit.encode(request))
    return answer.contentType === CONTENT_TYPE.error ? new TextDecoder().decode(bodyOf(answer)) : 'laid'
  }
  const check = {
    name: 'os',
    typeId: 'OS',
    operatingSystems: [{ type: 'Linux', versions: [] }],
    roleAttributes: ['os'],
  }
  await world.create('/posture-checks', check)
  await world.call('PATCH', `/service-policies/${dial}`, { postureCheckRoles: ['#os'] })
  expect(await ask()).toBe('no policy whose posture checks pass lets the identity in')
  const report = JSON.stringify({ id: '0', typeId: 'OS', type: 'Linux', version: '6.1.0' })
  const path = '/edge/client/v1/posture-response'
  expect((await bearing(mounted, access_token, path, { method: 'POST', headers, body: report })).status).toBe(201)
  expect(await ask()).not.toContain('posture')
})
