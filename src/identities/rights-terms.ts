import { privilegedIdentities } from '../authority/trust.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { equals, type Filter } from '../kernel/filter/index.ts'

/** Identities whose rights one write ends at most: other writers wait for it. */
const IN_ONE_WRITE = 100
const HAS_END: Filter = { kind: 'not', of: equals('rightsUntil', null) }

/**
 * Ends the rights of identities whose instant has come, whichever process gave them. Each is an ordinary write: event streams and channels of
 * operators without rights end with it, and the audit trail gets it. No request has these rights meanwhile. Answers when (epoch ms) the next
 * rights end.
 */
export async function endRights({ clock, storage, writes }: EngineContext): Promise<number | undefined> {
  const holders = await storage.read((tx) => privilegedIdentities(tx, HAS_END))
  const ends = holders.map(({ id, rightsUntil }) => ({ id, at: rightsUntil ?? Number.POSITIVE_INFINITY }))
  const due = ends.filter(({ at }) => at <= clock.now()).map(({ id }) => id)
  for (let first = 0; first < due.length; first += IN_ONE_WRITE) {
    await writes.run(SYSTEM_CALL, async (tx) => {
      const now = clock.now()
      for (const id of due.slice(first, first + IN_ONE_WRITE)) {
        // Another process or a caller may have changed it meanwhile.
        const identity = await tx.collection(identities).get(id)
        if (identity === undefined || identity.rightsUntil === null || now < identity.rightsUntil) continue
        const without = { isAdmin: false, permissions: [], rightsUntil: null }
        await tx.collection(identities).update({ ...identity, ...without, updatedAt: now })
      }
    })
  }
  const next = Math.min(...ends.map(({ at }) => at).filter((at) => at > clock.now()))
  return Number.isFinite(next) ? next : undefined
}
