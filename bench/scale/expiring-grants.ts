import type { TestController } from 'portcullis/testing'
import { grantFields } from '../../src/facts/authority/authority.rules.ts'
import { identities } from '../../src/facts/identities/identity.resource.ts'
import { equals } from '../../src/kernel/filter/index.ts'

/** Milliseconds until the grants end, by the clock of the controller. */
const TERM_MS = 60_000
const IN_ONE_WRITE = 500

/** Gives a role attribute to the first `count` identities of a network, all until the same instant. */
export async function grantToMany({ storage, clock }: TestController, count: number): Promise<void> {
  const now = clock.now()
  const given = { attribute: 'on-call', startsAt: null, reason: null, givenBy: null, phase: 'in-force' } as const
  const until = new Date(now + TERM_MS).toISOString()
  for (let first = 0; first < count; first += IN_ONE_WRITE) {
    await storage.write(async (tx) => {
      const collection = tx.collection(identities)
      for (let number = first; number < Math.min(first + IN_ONE_WRITE, count); number += 1) {
        const identity = await collection.get(`i${number}`)
        if (identity === undefined) throw new Error(`there is no i${number}`)
        await collection.update({ ...identity, ...grantFields([{ ...given, id: `g${number}`, until }], now) })
      }
    })
  }
}

/** Lets the grants end, and answers when their ends are written. */
export async function endGrants({ storage, clock }: TestController): Promise<void> {
  const where = { kind: 'not', of: equals('grantsDueAt', null) } as const
  // In the order of the index: otherwise the benchmark itself reads all identities.
  const orderBy = [{ field: 'grantsDueAt', kind: 'instant', direction: 'asc' }] as const
  const left = () => storage.read((tx) => tx.collection(identities).findIds({ where, orderBy, limit: 1 }))
  clock.advance(TERM_MS)
  while ((await left()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50))
}
