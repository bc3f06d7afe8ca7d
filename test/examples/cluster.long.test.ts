import { afterAll, describe, expect, it } from 'vitest'
import { runCluster } from '../../examples/cluster/cluster.ts'
import { createDatabase } from '../support/postgres.ts'

const database = await createDatabase()
afterAll(() => database.drop())

describe.each([
  ['examples/cluster', 'sqlite:cluster.db'],
  ['examples/postgres', database.url],
])('%s', (_example, storage) => {
  it('serves one database by three processes, loses nothing and shows nothing stale while each is killed', async () => {
    const told: string[] = []
    const { acknowledged, lost, stale } = await runCluster((line) => told.push(line), storage)
    expect([lost, stale]).toEqual([0, 0])
    expect(acknowledged).toBeGreaterThan(30)
    expect(told).toHaveLength(5)
  }, 180_000)
})
