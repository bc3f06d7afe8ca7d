import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { networkAuthorities } from '../facts/pki/network-authority.resource.ts'
import type { AuthorityRecord } from './stored-keys.ts'

/** How many holders are asked in one write: others write in between. */
const HOLDERS_PER_WRITE = 200

/**
 * Asks every device with a certificate of an earlier authority to renew it: it is asked when it logs in, and when it looks after its
 * session. The storage holds the asked devices, so another process, or the next start, completes an interrupted campaign.
 */
export async function askForRenewal(context: EngineContext, { id, keyId, issuesFrom }: AuthorityRecord): Promise<void> {
  const { clock, storage, turns, writes } = context
  const turn = turns.begin()
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
      await turn()
    }
    return found
  })
  for (let begin = 0; begin < wanted.length; begin += HOLDERS_PER_WRITE) {
    await writes.run(SYSTEM_CALL, async (tx) => {
      const extendRequestedAt = clock.now()
      for (const authenticatorId of wanted.slice(begin, begin + HOLDERS_PER_WRITE)) {
        const known = await tx.collection(authenticators).get(authenticatorId)
        if (known === undefined || known.isExtendRequested || !isBefore(known.authorityKeyId)) continue
        await tx.collection(authenticators).update({ ...known, isExtendRequested: true, extendRequestedAt })
        await turn()
      }
    })
  }
  await writes.run(SYSTEM_CALL, async (tx) => {
    const authority = await tx.collection(networkAuthorities).get(id)
    // It may have begun to sign meanwhile: devices that renewed in between are asked again.
    if (authority?.issuesFrom === issuesFrom && authority.askedAt === null)
      await tx.collection(networkAuthorities).update({ ...authority, askedAt: clock.now() })
  })
}
