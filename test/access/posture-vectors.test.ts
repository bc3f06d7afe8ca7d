import { readFile } from 'node:fs/promises'
import { type PostureCheck, postureResponses } from 'portcullis/policy'
import { createTestController, type TestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import { PostureReports, writeReports } from '../../adapters/network/channel/posture-messages.ts'
import { postureVectors, vectorsText } from '../../scripts/posture-vectors.ts'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import { withHost } from '../support/left-to-router.ts'
import { completeMfa } from '../support/mfa-enrollment.ts'
import { mountOf } from '../support/mount.ts'
import { passesNaively } from '../support/naive-posture.ts'
import { apisOf, person } from '../support/people.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const FILE = new URL('../../posture-vectors.json', import.meta.url)
const VECTORS = postureVectors().map((vector) => [vector.name, vector] as const)

it('the file of posture vectors is what the rules say', async () => {
  expect(await readFile(FILE, 'utf8')).toBe(vectorsText())
})

/** A network in which everybody may dial the wiki with posture checks that each vector makes. */
let network: TestController
let serviceId: string
beforeAll(async () => {
  network = await createTestController(await withSharedPki())
  const admin = await adminOf(mountOf(network))
  const any = { semantic: 'AnyOf' }
  serviceId = await create(admin, '/services', { name: 'wiki', encryptionRequired: false })
  const roles = { identityRoles: ['#all'], serviceRoles: ['#all'], postureCheckRoles: ['#checked'] }
  await create(admin, '/service-policies', { ...any, name: 'dial', type: 'Dial', ...roles })
  await create(admin, '/edge-routers', { name: 'router' })
  const meet = { ...any, name: 'meet', edgeRouterRoles: ['#all'] }
  await create(admin, '/edge-router-policies', { ...meet, identityRoles: ['#all'] })
  await create(admin, '/service-edge-router-policies', { ...meet, serviceRoles: ['#all'] })
})
afterAll(() => network.close())

describe.each(VECTORS)('%s', (_name, { check, events, at, passes, missing }) => {
  it('passes or fails as somebody says who looks through everything each time', () => {
    expect(passesNaively(check, events, at)).toBe(passes)
    expect(missing.length === 0).toBe(passes)
  })

  it('passes or fails at a controller', async () => {
    const mounted = mountOf(await network.fork())
    onTestFinished(() => mounted.dispose())
    const admin = await adminOf(mounted)
    await create(admin, '/posture-checks', { name: 'check', roleAttributes: ['checked'], ...check })
    const who = await person(mounted, admin, 'anna')
    const mfa = events.some((event) => 'secondFactor' in event) ? await completeMfa(mounted, who) : undefined
    const api = mfa?.api ?? (await apisOf(mounted, who)).api
    let now = 0
    const until = (seconds: number) => {
      mounted.clock.advance((seconds - now) * 1000)
      now = seconds
    }
    for (const event of events) {
      until(event.at)
      const answer =
        'report' in event
          ? await api.post('/posture-response-bulk', postureResponses(event.report))
          : await api.post('/authenticate/mfa', { code: mfa?.code() })
      expect(answer.status, answer.text).toBeLessThan(300)
    }
    until(at)
    const { data } = (await api.get(`/services/${serviceId}`)).body
    expect(data.postureQueries[0].isPassing).toBe(passes)
    expect((await api.post('/sessions', { serviceId, type: 'Dial' })).status).toBe(passes ? 201 : 409)
  })

  it('passes or fails at a router that judges posture itself', async () => {
    const asked = { id: 'check', name: 'check', ...check } as PostureCheck
    const { world, client, dial } = await withHost([asked])
    const begun = Math.floor(world.now / 1000) * 1000
    for (const event of events) {
      world.now = begun + event.at * 1000
      const body =
        'report' in event
          ? writeReports(event.report, world.now)
          : PostureReports.encode({
              responses: [
                { totpToken: { token: await world.token({ z_t: 't', z_asid: 'session of laptop' }, 'laptop') } },
              ],
            } as never)
      client.send({ contentType: EDGE_TYPE.posture, headers: new Map(), body: [body] })
      // A token is verified before it counts.
      if ('secondFactor' in event) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    world.now = begun + at * 1000
    expect((await dial()).contentType).toBe(passes ? EDGE_TYPE.stateConnected : EDGE_TYPE.stateClosed)
    world.close()
  })
})
