import assert from 'node:assert/strict'
import { UniqueViolation } from './core.ts'
import { get, insertAll, machine, machines, ticket, tickets } from './kinds-of-records.ts'
import type { Suite } from './suite.ts'

const CALLERS = Array.from({ length: 200 }, (_, caller) => caller)
const ROUNDS = 20

export function describeConcurrency(suite: Suite): void {
  describeTurnsOfWrites(suite)
  describeRacesForRecords(suite)
}

function describeTurnsOfWrites({ it, open }: Suite): void {
  it('loses none of 200 concurrent increments', async () => {
    const storage = await open()
    await insertAll(storage, tickets, [ticket('counter')])
    await Promise.all(
      CALLERS.map(() =>
        storage.write(async (tx) => {
          const counter = await tx.collection(tickets).get('counter')
          await Promise.resolve()
          if (counter !== undefined) await tx.collection(tickets).update({ ...counter, uses: counter.uses + 1 })
        }),
      ),
    )
    assert.equal((await get(storage, tickets, 'counter'))?.uses, 200)
  })

  it('runs one write at a time', async () => {
    const storage = await open()
    let running = 0
    let most = 0
    await Promise.all(
      CALLERS.map((caller) =>
        storage.write(async (tx) => {
          running += 1
          most = Math.max(most, running)
          await tx.collection(tickets).insert(ticket(`t${caller}`))
          await new Promise((resolve) => setImmediate(resolve))
          running -= 1
        }),
      ),
    )
    assert.equal(most, 1)
  })
}

function describeRacesForRecords({ it, open }: Suite): void {
  it(`lets one of 200 concurrent callers consume a record, ${ROUNDS} times`, async () => {
    const storage = await open()
    const winners: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      await insertAll(storage, tickets, [ticket(`once ${round}`)])
      const outcomes = await Promise.all(
        CALLERS.map(() => storage.write((tx) => tx.collection(tickets).delete(`once ${round}`))),
      )
      winners.push(outcomes.filter(Boolean).length)
    }
    assert.deepEqual(
      winners,
      Array.from({ length: ROUNDS }, () => 1),
    )
    assert.equal((await storage.read((tx) => tx.collection(tickets).find())).totalCount, 0)
  })

  it('leaves a record for the next caller when its consumer fails', async () => {
    const storage = await open()
    await insertAll(storage, tickets, [ticket('once')])
    const outcomes = await Promise.allSettled(
      [0, 1, 2].map((caller) =>
        storage.write(async (tx) => {
          const isConsumed = await tx.collection(tickets).delete('once')
          if (caller === 0) throw new Error('after consuming')
          return isConsumed
        }),
      ),
    )
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed')),
      ['failed', true, false],
    )
  })

  it('gives a unique value to one of 200 concurrent callers', async () => {
    const storage = await open()
    const outcomes = await Promise.allSettled(
      CALLERS.map((caller) =>
        storage.write((tx) => tx.collection(machines).insert(machine(`m${caller}`, { serial: 'the only one' }))),
      ),
    )
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(refused?.length, 199)
    assert.equal(
      refused.every(({ reason }) => reason instanceof UniqueViolation && reason.field === 'serial'),
      true,
    )
    assert.equal((await storage.read((tx) => tx.collection(machines).find())).totalCount, 1)
  })
}
