import { RENEWS_WHEN_ASKED } from '../facts/fabric/rules/index.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { identityReason, renewalHelp, routerReason, type Standing } from '../facts/pki/holders.rules.ts'
import type { PkiStatus, RenewalHolder } from '../facts/pki/pki-requests.resource.ts'
import { both, equals, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { RouterPresence } from '../ports/router-presence.ts'
import type { Holders, JudgedIdentity } from './certificate-holders.ts'

/** Tells of those that have no certificate of the latest authority why, and what helps: routers, then identities, `most` in all. */
export async function outstandingHolders(
  tx: ReadTransaction,
  holders: Holders,
  { presence, now }: { readonly presence: RouterPresence; readonly now: number },
  most: number,
): Promise<readonly RenewalHolder[]> {
  const routers = holders.routers
    .filter(({ isOutstanding }) => isOutstanding)
    .slice(0, most)
    .map(({ type, id, name, endsAt }): RenewalHolder => {
      const connection = presence.connectionOf(id)
      const reason =
        endsAt <= now
          ? 'locked-out'
          : routerReason(
              connection && { renewsWhenAsked: connection.capabilities?.includes(RENEWS_WHEN_ASKED) === true },
            )
      const { version = '', revision = '' } = connection?.versionInfo ?? {}
      const program = revision === 'portcullis' ? revision : version
      const help = renewalHelp({ type, name }, reason)
      return { type, id, name, askedAt: null, endsAt: instantText(endsAt), program, reason, help }
    })
  const wanted = [...holders.identities].filter(([, { isOutstanding }]) => isOutstanding)
  const few = wanted.slice(0, most - routers.length)
  const named = await tx.collection(identities).find({ where: ids(few.map(([id]) => id)) })
  const known = new Map(named.items.map((identity) => [identity.id, identity]))
  const told: RenewalHolder[] = []
  for (const [id, { askedAt, endsAt }] of few) {
    const { name = id, sdkInfo } = known.get(id) ?? {}
    const { type: sdk = '', version = '' } = sdkInfo ?? {}
    const reason =
      endsAt <= now ? 'locked-out' : identityReason({ askedAt, seenAt: await lastSeen(tx, id), program: sdk })
    const common = { type: 'identities', id, name } as const
    const help = renewalHelp(common, reason)
    const program = [sdk, version].filter((part) => part !== '').join(' ')
    const times = { askedAt: askedAt === null ? null : instantText(askedAt), endsAt: instantText(endsAt) }
    told.push({ ...common, ...times, program, reason, help })
  }
  return [...routers, ...told]
}

/** Names that are told of each group. */
const FEW = 10

/** Counts the holders that somebody has to look at, with the first names. What ends by `soon` is ending. */
export async function dueHolders(
  tx: ReadTransaction,
  { identities: judged, routers }: Holders,
  now: number,
  soon: number,
): Promise<PkiStatus['due']> {
  const group = async (isMeant: (standing: Standing) => boolean) => {
    const meant = {
      routers: routers.filter(isMeant),
      identities: [...judged].flatMap(([id, standing]) => (isMeant(standing) ? [id] : [])),
    }
    const names = await holderNames(tx, meant, FEW)
    return { identities: meant.identities.length, routers: meant.routers.length, names: [...names] }
  }
  return {
    outstanding: await group(({ isOutstanding }) => isOutstanding),
    ending: await group(({ endsAt }) => endsAt > now && endsAt <= soon),
    ended: await group(({ endsAt }) => endsAt <= now),
  }
}

/** The names of the first `most` of some holders, routers before identities. */
export async function holderNames(
  tx: ReadTransaction,
  holders: { readonly routers: readonly { readonly name: string }[]; readonly identities: readonly string[] },
  most: number,
): Promise<readonly string[]> {
  const routers = holders.routers.slice(0, most).map(({ name }) => name)
  const few = holders.identities.slice(0, most - routers.length)
  const { items } = await tx.collection(identities).find({ where: ids(few) })
  const names = new Map(items.map(({ id, name }) => [id, name]))
  return [...routers, ...few.map((id) => names.get(id) ?? id)]
}

/** When a session by certificate of an identity was used last, epoch ms. */
async function lastSeen(tx: ReadTransaction, identityId: string): Promise<number | null> {
  const where = both(equals('identityId', identityId), equals('method', 'cert'))
  const { items } = await tx.collection(apiSessions).find({
    ...(where && { where }),
    orderBy: [{ field: 'lastActivityAt', kind: 'instant', direction: 'desc' }],
    limit: 1,
  })
  return items[0]?.lastActivityAt ?? null
}

function instantText(instant: JudgedIdentity['endsAt']): string | null {
  return Number.isFinite(instant) ? new Date(instant).toISOString() : null
}
