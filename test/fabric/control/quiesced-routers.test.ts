import { routerSide } from 'portcullis/fabric'
import { expect, it, vi } from 'vitest'
import { type FabricWorld, fabricWorld } from './fabric-world.ts'

const { CONTENT_TYPE, HEADER, readBool } = routerSide

async function terminatorAt(world: FabricWorld, router: string, precedence: string): Promise<string> {
  const service = await world.create('/services', { name: `web ${precedence}`, encryptionRequired: false })
  return world.create('/terminators', { service, router, binding: 'transport', address: 'tcp:a:1', precedence })
}

it('terminators of a quiesced router are tried last, until it is dequiesced', async () => {
  const world = await fabricWorld()
  const [router, other] = [await world.router('r1'), await world.router('r2')]
  const ids = await Promise.all([
    terminatorAt(world, router.id, 'required'),
    terminatorAt(world, router.id, 'failed'),
    terminatorAt(world, other.id, 'default'),
  ])
  const precedences = () =>
    Promise.all(ids.map(async (id) => (await world.call('GET', `/terminators/${id}`)).precedence))
  // Asked twice, it is the same.
  for (const contentType of [CONTENT_TYPE.quiesce, CONTENT_TYPE.quiesce]) {
    expect(readBool((await router.request(contentType)).headers, HEADER.success)).toBe(true)
    expect(await precedences()).toEqual(['failed', 'failed', 'default'])
  }
  expect(readBool((await router.request(CONTENT_TYPE.dequiesce)).headers, HEADER.success)).toBe(true)
  await vi.waitFor(async () => expect(await precedences()).toEqual(['required', 'failed', 'default']))
})
