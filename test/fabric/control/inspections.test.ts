import { routerSide } from 'portcullis/fabric'
import type { FakeRouter } from 'portcullis/testing'
import { expect, it, vi } from 'vitest'
import { fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE, HEADER, InspectResponse } = routerSide

type World = Awaited<ReturnType<typeof fabricWorld>>

it('routers are asked for the values, and their answers are shown as objects, lists and texts', async () => {
  const world = await fabricWorld()
  const router = await world.router('r1')
  const asked = inspect(world, '^r1$', ['links', 'stackdump'])
  await answer(router, { values: [value('links', '{"links":[]}'), value('stackdump', 'goroutine 1')] })
  expect(await asked).toEqual({
    success: true,
    errors: [],
    values: [
      { appId: router.id, name: 'links', value: { links: [] } },
      { appId: router.id, name: 'stackdump', value: 'goroutine 1' },
    ],
  })
})

it('a router that does not answer, or goes, is told as an error, and the others are shown', async () => {
  const world = await fabricWorld()
  const [silent, gone, other] = [await world.router('r1'), await world.router('r2'), await world.router('r3')]
  const asked = inspect(world, '^r', ['config'])
  await silent.next(({ contentType }) => contentType === CONTENT_TYPE.inspect)
  gone.close()
  await vi.waitFor(() => expect(world.told('router.connection').at(-1)).toMatchObject({ isOnline: false }))
  await answer(other, { values: [value('config', '{}')], errors: ['half of it'] })
  // Messages that were sent before are taken by the time that this is answered.
  await other.request(CONTENT_TYPE.ping)
  await vi.waitFor(() => expect(world.told('router.connection').some(({ isOnline }) => !isOnline)).toBe(true))
  await world.controller.elapse(10_000)
  const { success, errors, values } = await asked
  expect({ success, values }).toEqual({ success: false, values: [{ appId: other.id, name: 'config', value: {} }] })
  expect([...errors].sort()).toEqual(
    [
      `${silent.id}: the router did not answer within 10 s`,
      `${gone.id}: the router disconnected`,
      `${other.id}: half of it`,
    ].sort(),
  )
})

it('nobody answers for another router', async () => {
  const world = await fabricWorld()
  const [asked, liar] = [await world.router('r1'), await world.router('r2')]
  const shown = inspect(world, '^r1$', ['config'])
  const request = await asked.next(({ contentType }) => contentType === CONTENT_TYPE.inspect)
  reply(liar, request, { values: [value('config', '"forged"')] })
  reply(asked, request, { values: [value('config', '[1]')] })
  expect((await shown).values).toEqual([{ appId: asked.id, name: 'config', value: [1] }])
})

it('the controller tells its own state, and says what is wrong with a pattern', async () => {
  const world = await fabricWorld()
  await world.router('r1')
  const names = [
    'connected-routers',
    'Config',
    'data-model-index',
    'terminator-costs',
    'identity-connection-statuses',
    'stackdump',
    'nothing',
  ]
  const { values } = await inspect(world, '^controller-', names)
  expect(values.map(({ name }) => name)).toEqual(names.slice(0, -1))
  expect(values[0]?.value).toMatchObject([{ name: 'r1', version: 'v2.0.0', underlays: { 'ctrl.default': 1 } }])
  expect((await inspect(world, '[', ['config'])).errors[0]).toMatch(/appRegex is no pattern/)
})

interface Shown {
  readonly success: boolean
  readonly errors: readonly string[]
  readonly values: readonly { readonly appId: string; readonly name: string; readonly value: unknown }[]
}

async function inspect(world: World, appRegex: string, requestedValues: readonly string[]): Promise<Shown> {
  // The schema of the operation says so.
  return (await world.call('POST', '/fabric/v1/inspections', { appRegex, requestedValues })) as unknown as Shown
}

function value(name: string, text: string) {
  return { name, value: text }
}

type Answer = Partial<Parameters<typeof InspectResponse.encode>[0]>

async function answer(router: FakeRouter, content: Answer): Promise<void> {
  reply(router, await router.next(({ contentType }) => contentType === CONTENT_TYPE.inspect), content)
}

function reply(router: FakeRouter, request: routerSide.Frame, content: Answer): void {
  const body = InspectResponse.encode({ success: true, errors: [], values: [], ...content })
  const correlation = request.headers.get(HEADER.reflected) ?? new Uint8Array()
  router.send(
    CONTENT_TYPE.inspected,
    body,
    new Map([
      [HEADER.replyFor, routerSide.uint32Header(request.sequence)],
      [HEADER.reflected, correlation],
    ]),
  )
}
