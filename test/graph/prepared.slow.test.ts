import { withExplorer } from 'portcullis/explorer'
import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillNetwork } from '../../bench/scale/network.ts'
import { adminToken, ownApi } from '../support/delegate.ts'

const SIZE = { identities: 5_000, services: 500, routers: 20, policies: [150, 20, 10] } as const

/** Questions of the first view of the explorer, and of the one that its picture leads to. */
const FIRST = ['/findings?limit=5', '/access-map?type=Dial&groups=12', '/access-map?type=Dial'] as const

async function filled(): Promise<TestController> {
  const controller = await createTestController({ clock: 'live' })
  onTestFinished(() => controller.close())
  await fillNetwork(controller.storage, SIZE)
  return controller
}

/** How long the first questions take one after the other (ms), of a controller that was asked nothing else. */
async function firstQuestions(controller: TestController, asked: TestController): Promise<number> {
  const token = await adminToken(controller)
  const from = performance.now()
  for (const path of FIRST) {
    const url = `https://controller.example.org/portcullis/v1${path}`
    const answer = await asked.fetch(new Request(url, { headers: { 'zt-session': token } }))
    expect(answer.status).toBe(200)
  }
  return performance.now() - from
}

describe('reach that is worked out ahead', () => {
  it('answers the first questions from memory, where the explorer is mounted or a host asks for it', async () => {
    const prepared = await filled()
    await prepared.engine.host.prepareReach()
    const mounted = await filled()
    const explorer = withExplorer(mounted)
    // Reach that was worked out already is waited for, and not made again.
    await mounted.engine.host.prepareReach()
    const cold = await filled()
    // The one that works out everything comes last: whatever the runtime has learnt by then is to its good.
    const [ofPrepared, ofMounted] = [await firstQuestions(prepared, prepared), await firstQuestions(mounted, explorer)]
    expect(Math.max(ofPrepared, ofMounted)).toBeLessThan((await firstQuestions(cold, cold)) / 2)
  }, 60_000)

  it('answers as a controller does that worked out nothing ahead, also of what changed since', async () => {
    const prepared = await filled()
    await prepared.engine.host.prepareReach()
    const others = await filled()
    for (const controller of [prepared, others]) {
      const { call } = await controller.asAdmin()
      await call('PATCH /identities/{id}', { params: { id: 'i7' }, body: { roleAttributes: [] } })
      await call('DELETE /service-policies/{id}', { params: { id: 'p0' } })
    }
    const answers = async (controller: TestController) => {
      const api = ownApi(controller, await adminToken(controller))
      const { revision: _, ...map } = (await api.call('GET /access-map', { query: { groups: '12' } })).data
      return { map, findings: (await api.call('GET /findings')).data }
    }
    expect(await answers(prepared)).toEqual(await answers(others))
  }, 60_000)

  it('is no matter where the controller is closed meanwhile, or what is mounted is none', async () => {
    const controller = await filled()
    withExplorer(controller)
    await controller.close()
    const bare = withExplorer({ fetch: async (_: Request) => new Response('behind') })
    expect(await (await bare.fetch(new Request('https://localhost/other'))).text()).toBe('behind')
  })
})
