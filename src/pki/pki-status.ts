import { DAY_MS } from '../base/time.ts'
import type { EngineContext } from '../context/context.ts'
import { KeptAnswer } from '../context/kept-answer.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { stateAt } from '../facts/pki/generations.rules.ts'
import { identityReason, renewalHelp, routerReason, type Standing } from '../facts/pki/holders.rules.ts'
import type { PkiStatus, RenewalHolder } from '../facts/pki/pki-requests.resource.ts'
import { ROUTER_CAPABILITY } from '../facts/routers/capabilities.rules.ts'
import { both, equals, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { RouterPresence } from '../ports/router-presence.ts'
import { examineHolders, type Holders, type JudgedIdentity } from './certificate-holders.ts'
import { type AuthorityRecord, configuredAuthority, StoredKeys } from './stored-keys.ts'

/** The authorities, the holders of their certificates, and the server. Certificates that end within `withinDays` are ending. */
export async function pkiStatus(context: EngineContext, withinDays: number): Promise<PkiStatus> {
  const { clock, keys, pki, storage } = context
  const now = clock.now()
  const server = await pki.serverCertificate()
  const soon = now + withinDays * DAY_MS
  const { known, holders, due, outstandingEnrollments } = await storage.read(async (tx) => {
    const known = await StoredKeys.authorities(tx)
    const holders = await holdersBy(context, tx, known, soon)
    const due = await dueHolders(tx, holders, now, soon)
    const { totalCount: outstandingEnrollments } = await tx.collection(enrollments).find({ limit: 1 })
    return { known, holders, due, outstandingEnrollments }
  })
  return {
    authorities: await shownAuthorities(context, known),
    server: {
      id: server.fingerprint,
      hosts: [...server.hosts],
      expiresAt: textOf(server.notAfter),
      outstandingEnrollments,
    },
    progress: known.length === 0 ? null : progressOf(holders, due.outstanding),
    due,
    bundle: pki.caBundlePem,
    hasRootKey: keys.configured.hasRootKey || known.some(({ rootKey }) => rootKey !== null),
    canKeepKeys: keys.canKeepKeys,
  }
}

/** The holders of certificates of the network that need attention until `soon` (epoch ms). */
export function certificateHolders(context: EngineContext, soon: number): Promise<Holders> {
  return context.storage.read(async (tx) => holdersBy(context, tx, await StoredKeys.authorities(tx), soon))
}

function holdersBy(
  { keys, turns }: EngineContext,
  tx: ReadTransaction,
  known: readonly AuthorityRecord[],
  soon: number,
) {
  return examineHolders(tx, { authorities: known, configuredKeyId: keys.configured.keyId }, soon, turns)
}

/** The authorities of the network, the earliest first: those of the store, or that of the host where none is stored. */
export async function shownAuthorities(
  context: EngineContext,
  known: readonly AuthorityRecord[],
): Promise<PkiStatus['authorities']> {
  const authorities = known.length > 0 ? known : [await configuredAuthority(context)]
  const now = context.clock.now()
  return Promise.all(authorities.map((each) => shown(context.pki, each, stateAt(each, authorities, now))))
}

async function shown(pki: EngineContext['pki'], authority: AuthorityRecord, state: ReturnType<typeof stateAt>) {
  const [signing] = await certificatesIn(pki, authority.chainPem)
  const [root] = await certificatesIn(pki, authority.rootPem)
  const time = (at: number | null | undefined) => (at == null ? null : textOf(at))
  return {
    id: authority.id,
    state,
    signing: { subject: signing?.subject ?? '', expiresAt: time(signing?.notAfter) },
    root: { subject: root?.subject ?? '', id: root?.fingerprint ?? '', expiresAt: time(root?.notAfter) },
    isVouchedFor: authority.isVouchedFor,
    issuesFrom: time(authority.issuesFrom),
    goodUntil: time(authority.goodUntil),
    askedAt: time(authority.askedAt),
  }
}

function progressOf({ totals }: Holders, outstanding: { readonly identities: number; readonly routers: number }) {
  const { identities, routers } = outstanding
  return {
    identities: { renewed: totals.identities - identities, outstanding: identities },
    routers: { renewed: totals.routers - routers, outstanding: routers },
  }
}

/** An answer for which every certificate is looked at. A change of keys makes it void. */
export class CertificateAnswer<T> extends KeptAnswer<T> {
  constructor({ clock, events }: Pick<EngineContext, 'clock' | 'events'>, work: () => Promise<T>) {
    super(clock, work)
    events.on('pki.changed', () => this.forget())
  }
}

/** The certificates of a PEM text; empty where it cannot be read. */
export async function certificatesIn(pki: EngineContext['pki'], pem: string) {
  const certificates = await pki.readCertificates(pem)
  return typeof certificates === 'string' ? [] : certificates
}

/** RFC 3339. */
function textOf(instant: number): string {
  return new Date(instant).toISOString()
}

/**
 * Lists the holders that have no certificate of the latest authority, with the reason and the remedy: routers, then
 * identities, `most` in all.
 */
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
              connection && {
                renewsWhenAsked: connection.capabilities?.includes(ROUTER_CAPABILITY.renewsWhenAsked) === true,
              },
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

/** Names that are listed of each group. */
const FEW = 10

/** Counts the holders that need attention, with the first names. A certificate that ends by `soon` counts as ending. */
async function dueHolders(
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
