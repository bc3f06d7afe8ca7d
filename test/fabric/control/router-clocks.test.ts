import { routerSide } from 'portcullis/fabric'
import { expect, it, onTestFinished } from 'vitest'
import { adminToken, ownApi } from '../../support/delegate.ts'
import { fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE, Metrics } = routerSide

it('a router whose clock differs by more than a minute is found, by its second report, until the clock is set', async () => {
  const { controller, listener, router } = await fabricWorld()
  onTestFinished(() => listener.close())
  const [edge, other] = [await router('edge'), await router('other')]
  const api = ownApi(controller, await adminToken(controller))
  const found = async () => {
    const [one] = (await api.call('GET /findings', { query: { finding: 'edge-router-clocks' } })).data
    return [one?.judged, one?.entities.map(({ name, detail }) => `${name} ${detail}`)]
  }
  const report = async (of: typeof edge, aheadSeconds: number | undefined) => {
    const seconds = Math.floor(controller.clock.now() / 1000) + (aheadSeconds ?? 0)
    const timestamp = aheadSeconds === undefined ? undefined : { seconds, nanos: 0 }
    of.send(CONTENT_TYPE.metrics, Metrics.encode({ timestamp }))
    await of.request(CONTENT_TYPE.ping)
  }
  // A report that does not say when it was sent tells nothing.
  for (const seconds of [undefined, undefined]) await report(edge, seconds)
  await report(edge, -90)
  expect(await found()).toEqual([0, []])
  await report(edge, -90)
  for (const seconds of [60, 60]) await report(other, seconds)
  expect(await found()).toEqual([2, ['edge 90 s behind the controller']])
  // A report that waited looks as if the clock were behind.
  await report(other, -600)
  expect(await found()).toEqual([2, ['edge 90 s behind the controller']])
  for (const seconds of [120, 120]) await report(edge, seconds)
  expect(await found()).toEqual([2, ['edge 120 s ahead of the controller']])
  for (const seconds of [1, 1]) await report(edge, seconds)
  expect(await found()).toEqual([2, []])
  edge.close()
  await expect.poll(found).toEqual([1, []])
})
