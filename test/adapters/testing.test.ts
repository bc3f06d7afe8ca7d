import { memoryStorage } from 'portcullis/memory'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it } from 'vitest'

const createServices = async (controller: Awaited<ReturnType<typeof createTestController>>, ...names: string[]) => {
  const admin = await controller.asAdmin()
  const ids: string[] = []
  for (const name of names) ids.push((await admin.call('POST /services', { body: { name } })).data.id)
  return ids
}

const namesIn = async (controller: Awaited<ReturnType<typeof createTestController>>) => {
  const { data } = await (await controller.asAdmin()).call('GET /services')
  return data.map(({ name }) => name).toSorted()
}

describe('a test controller over a fork', () => {
  it('makes ids that nothing in the world has, also over a fork of a fork', async () => {
    const world = memoryStorage()
    const first = await createServices(await createTestController({ storage: world }), 'a1', 'a2', 'a3', 'a4')
    const fork = world.fork()
    const forked = await createTestController({ storage: fork })
    const second = await createServices(forked, 'b1', 'b2', 'b3', 'b4')
    const again = await createTestController({ storage: fork.fork() })
    const third = await createServices(again, 'c1', 'c2', 'c3', 'c4')
    expect(new Set([...first, ...second, ...third]).size).toBe(12)
    expect(await namesIn(forked)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4'])
  })

  it('makes the same ids in every fork of one world', async () => {
    const world = memoryStorage()
    await createServices(await createTestController({ storage: world }), 'a')
    const ids = async () => createServices(await createTestController({ storage: world.fork() }), 'b')
    expect(await ids()).toEqual(await ids())
  })
})

it('asAdmin is the admin that the test controller was made with', async () => {
  const admin = { username: 'somebody', password: 'some-password' }
  const management = await (await createTestController({ admin })).asAdmin()
  const { data } = await management.call('GET /current-identity')
  expect(data.isDefaultAdmin).toBe(true)
})
