import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { networkAuthorities } from '../facts/pki/network-authority.resource.ts'
import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import { both, equals, type Filter } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { AuthorityRecord } from './stored-keys.ts'

/** How many holders are asked in one write: others write in between. */
const BATCH = 200

/** How many hold a certificate of an authority, and how many do not. */
export interface RenewalCount {
  readonly renewed: number
  readonly outstanding: number
}

/**
 * Asks every device whose certificate is of an authority before to renew it: it is asked when it logs in, and when it looks after
 * its session. Who was asked stands in the storage, so that what a process began another one, or its next start, completes.
 */
export async function askForRenewal(
  context: Pick<EngineContext, 'clock' | 'storage' | 'writes'>,
  { id, keyId, issuesFrom }: AuthorityRecord,
): Promise<void> {
  const { clock, storage, writes } = context
  // Where the authority does not sign yet, a renewal brings the next root alone.
  const isBefore = (authorityKeyId: string | null) => issuesFrom === null || authorityKeyId !== keyId
  const wanted = await storage.read(async (tx) => {
    const found: string[] = []
    const fields = ['method', 'isIssuedByNetwork', 'authorityKeyId', 'isExtendRequested'] as const
    for await (const { items } of tx.collection(authenticators).scan(fields)) {
      for (const each of items) {
        const isAsked = each.isExtendRequested || !each.isIssuedByNetwork || each.method !== 'cert'
        if (!isAsked && isBefore(each.authorityKeyId)) found.push(each.id)
      }
    }
    return found
  })
  for (let begin = 0; begin < wanted.length; begin += BATCH) {
    await writes.run(SYSTEM_CALL, async (tx) => {
      const extendRequestedAt = clock.now()
      for (const authenticatorId of wanted.slice(begin, begin + BATCH)) {
        const known = await tx.collection(authenticators).get(authenticatorId)
        if (known === undefined || known.isExtendRequested || !isBefore(known.authorityKeyId)) continue
        await tx.collection(authenticators).update({ ...known, isExtendRequested: true, extendRequestedAt })
      }
    })
  }
  await writes.run(SYSTEM_CALL, async (tx) => {
    const authority = await tx.collection(networkAuthorities).get(id)
    if (authority !== undefined && authority.askedAt === null)
      await tx.collection(networkAuthorities).update({ ...authority, askedAt: clock.now() })
  })
}

/** The certificates of devices that the network issued and that are not of `authority` yet. */
export function outstandingDevices({ keyId, issuesFrom }: AuthorityRecord): Filter | undefined {
  const issued = both(equals('method', 'cert'), equals('isIssuedByNetwork', true))
  return issuesFrom === null
    ? both(issued, equals('isExtendRequested', true))
    : both(issued, { kind: 'not', of: equals('authorityKeyId', keyId) })
}

/** The routers that enrolled and whose certificates are not of `authority` yet. */
export function outstandingRouters({ keyId }: AuthorityRecord): Filter | undefined {
  return both(equals('isVerified', true), { kind: 'not', of: equals('authorityKeyId', keyId) })
}

/** Counts who has a certificate of `authority` and who has not. */
export async function countRenewed(
  tx: ReadTransaction,
  authority: AuthorityRecord,
): Promise<{ readonly identities: RenewalCount; readonly routers: RenewalCount }> {
  const all = await count(tx, authenticators, both(equals('method', 'cert'), equals('isIssuedByNetwork', true)))
  const outstanding = await count(tx, authenticators, outstandingDevices(authority))
  const enrolled = equals('isVerified', true)
  const routers = (await count(tx, edgeRouters, enrolled)) + (await count(tx, transitRouters, enrolled))
  const old = outstandingRouters(authority)
  const oldRouters = (await count(tx, edgeRouters, old)) + (await count(tx, transitRouters, old))
  return {
    identities: { renewed: all - outstanding, outstanding },
    routers: { renewed: routers - oldRouters, outstanding: oldRouters },
  }
}

type Counted = typeof authenticators | typeof edgeRouters | typeof transitRouters

async function count(tx: ReadTransaction, kind: Counted, where: Filter | undefined): Promise<number> {
  const { totalCount } = await tx.collection<{ readonly id: string }>(kind).find({ ...(where && { where }), limit: 1 })
  return totalCount
}
