import { administrators } from '../../authority/trust.ts'
import { foldName, type NameOrder } from '../../base/name-order.ts'
import { DAY_MS } from '../../base/time.ts'
import type { EngineContext } from '../../context/context.ts'
import type { KeptAnswer } from '../../context/kept-answer.ts'
import { isDisabled } from '../../facts/authority/authority.rules.ts'
import { authenticators } from '../../facts/credentials/authenticator.resource.ts'
import { cas } from '../../facts/enrollment/ca.resource.ts'
import { enrollments } from '../../facts/enrollment/enrollment.resource.ts'
import { identities } from '../../facts/identities/identity.resource.ts'
import { mfas } from '../../facts/login/mfa.resource.ts'
import { sightings } from '../../facts/login/sighting.resource.ts'
import { endOfCertificate } from '../../facts/pki/certificate-end.rules.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { both, equals, ids as idsAre, isIn } from '../../kernel/filter/index.ts'
import { CertificateAnswer, certificateHolders, shownAuthorities } from '../../pki/pki-status.ts'
import { StoredKeys } from '../../pki/stored-keys.ts'
import type { ReadCollection, StoredRecord } from '../../ports/record-storage.ts'
import type { Turns } from '../../ports/runtime.ts'
import type { HostedServices } from './hosts-of-services.ts'
import type { Names } from './names.ts'
import type { Partition } from './partition.ts'

/** A certificate ends soon within this time (ms): long enough to bring a new one to where it is used. */
const CERTIFICATE_SOON_MS = 30 * DAY_MS
/** An identity that was not seen for this time (ms) may belong to a lost device, or to a person who left. */
export const UNSEEN_MS = 30 * DAY_MS
/** Identities of the finding that are read at most. */
const MOST_UNSEEN = 1000
/** Invitations of one finding that are listed at most. */
const MOST_INVITATIONS = 1000

/** The sources of findings. */
export interface FindingSources {
  readonly context: EngineContext
  readonly partition: Partition
  readonly names: Names
  readonly hosted: HostedServices
  readonly certificates: EndingCertificates
  /** Policies whose identities all stayed away. */
  readonly abandoned: KeptAnswer<{ readonly ids: readonly string[]; readonly judged: number }>
}

/** The entities of a finding, with the instant (epoch ms) and the words that go with some of them. */
export interface Found {
  readonly ids: readonly string[]
  readonly instants?: ReadonlyMap<string, number>
  readonly details?: ReadonlyMap<string, string>
  /** The least number of entities that were judged; absent for all entities of the kinds of the finding. */
  readonly judged?: number
  /** The names of entities that no search finds. */
  readonly order?: Pick<NameOrder, 'get'>
}

/** The holders whose certificates end soon: the end of each (epoch ms) by id, and the number of holders. */
interface EndingHolders {
  readonly routers: ReadonlyMap<string, number>
  readonly identities: ReadonlyMap<string, number>
  readonly totals: { readonly routers: number; readonly identities: number }
  /** The certificates of the network itself, each with its end. */
  readonly authorities: readonly { readonly id: string; readonly name: string; readonly endsAt: number }[]
}

/** Routers and identities whose certificates end soon, and the certificates of the network itself. Each certificate is looked at for it, so an answer is kept for some time. */
export class EndingCertificates extends CertificateAnswer<EndingHolders> {
  constructor(context: EngineContext) {
    super(context, async () => {
      const soon = context.clock.now() + CERTIFICATE_SOON_MS
      const { totals, routers, identities } = await certificateHolders(context, soon)
      const ending = (holders: Iterable<readonly [string, number]>) =>
        new Map([...holders].filter(([, endsAt]) => endsAt <= soon))
      return {
        routers: ending(routers.map(({ id, endsAt }) => [id, endsAt])),
        identities: ending([...identities].map(([id, { endsAt }]) => [id, endsAt])),
        totals,
        authorities: await authorityEnds(context),
      }
    })
  }
}

/** Routers and certificate authorities whose certificate ends soon, or has ended. */
export async function endingCertificates({ context, certificates }: FindingSources): Promise<Found> {
  const { storage, clock, turns } = context
  const { routers, totals } = await certificates.read()
  const instants = new Map(routers)
  let judged = totals.routers
  await storage.read(async (tx) => {
    const turn = turns.begin()
    for await (const { items } of tx.collection(cas).scan(['certPem'])) {
      for (const { id, certPem } of items) {
        const endsAt = endOfCertificate(certPem)
        judged += 1
        if (endsAt !== undefined && endsAt <= clock.now() + CERTIFICATE_SOON_MS) instants.set(id, endsAt)
        await turn()
      }
    }
  })
  return { ids: [...instants.keys()], instants, judged }
}

/** Identities whose certificate from this network ends soon, or has ended. */
export async function endingOfIdentities({ certificates }: FindingSources): Promise<Found> {
  const { identities: instants, totals } = await certificates.read()
  return { ids: [...instants.keys()], instants, judged: totals.identities }
}

/** The authority that signs, its root, and the certificate of the server, as far as they end soon. */
export async function endingAuthorities({ context, certificates }: FindingSources): Promise<Found> {
  const { authorities } = await certificates.read()
  const ending = authorities.filter(({ endsAt }) => endsAt <= context.clock.now() + CERTIFICATE_SOON_MS)
  const instants = new Map(ending.map(({ id, endsAt }) => [id, endsAt]))
  return { ...unnamed(ending), instants, judged: authorities.length }
}

async function authorityEnds(context: EngineContext): Promise<EndingHolders['authorities']> {
  const known = await context.storage.read((tx) => StoredKeys.authorities(tx))
  const issuing = (await shownAuthorities(context, known)).find(({ state }) => state === 'issuing')
  const server = await context.pki.serverCertificate()
  const end = (text: string | null | undefined) => Date.parse(text ?? '')
  return [
    { id: 'root', name: `root ${issuing?.root.subject ?? ''}`, endsAt: end(issuing?.root.expiresAt) },
    { id: 'signing', name: `authority ${issuing?.signing.subject ?? ''}`, endsAt: end(issuing?.signing.expiresAt) },
    { id: 'server', name: `server ${server.hosts[0] ?? ''}`, endsAt: server.notAfter },
  ]
}

/** Administrators that log in by a password alone. They are found by an index; a network has few. */
export function onePasswordAdministrators({ context: { storage, clock } }: FindingSources): Promise<Found> {
  return storage.read(async (tx) => {
    const enabled = (await administrators(tx)).filter((one) => !isDisabled(one, clock.now()))
    const where = isIn('identityId', new Set(enabled.map(({ id }) => id)))
    const passwords = (await tx.collection(authenticators).find({ where })).items.filter((one) => one.method === 'updb')
    const proved = (await tx.collection(mfas).find({ where })).items.filter(({ isVerified }) => isVerified)
    const safe = new Set(proved.map(({ identityId }) => identityId))
    const holders = [...new Set(passwords.map(({ identityId }) => identityId))]
    return { ids: holders.filter((id) => !safe.has(id)), judged: holders.length }
  })
}

/** Identities that were seen once and not for 30 days, and could still log in: the longest absence first, up to a thousand. */
export function unseenIdentities({ context, names }: FindingSources): Promise<Found> {
  const { storage, clock, turns } = context
  return storage.read(async (tx) => {
    const now = clock.now()
    const seen = tx.collection(sightings)
    if ((await seen.findIds({ limit: 1 })).length === 0) return { ids: [], judged: 0 }
    const operand = { kind: 'field', field: 'seenAt' } as const
    const where = { kind: 'compare', operand, operator: '<', value: now - UNSEEN_MS } as const
    const orderBy = [{ field: 'seenAt', kind: 'instant', direction: 'asc' }] as const
    const absent = await seen.findIds({ where, orderBy, limit: MOST_UNSEEN })
    const instants = new Map((await readEach(seen, absent, turns)).map(({ id, seenAt }) => [id, seenAt]))
    const enabled = (await readEach(tx.collection(identities), absent, turns)).filter((one) => !isDisabled(one, now))
    return { ids: enabled.map(({ id }) => id), instants, judged: names.get('identities')?.size ?? 0 }
  })
}

/** Records that are read at once: other work has the event loop in between. */
const AT_ONCE = 100

/** Reads records by their ids, in slices. */
export async function readEach<T extends StoredRecord>(
  collection: ReadCollection<T>,
  wanted: readonly string[],
  turns: Turns,
): Promise<readonly T[]> {
  const turn = turns.begin()
  const read: T[] = []
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    read.push(...(await collection.find({ where: idsAre(wanted.slice(at, at + AT_ONCE)) })).items)
    await turn()
  }
  return read
}

/**
 * Identities with an invitation that has ended, or that is about to end, as the storage finds them: at most a thousand of each. Ended
 * invitations do not hide another that is about to end.
 */
export function invitations({ context, names }: FindingSources, state: 'ended' | 'ending') {
  const { storage, clock, turns } = context
  const now = clock.now()
  const [after, until] = state === 'ended' ? [0, now] : [now, now + DAY_MS]
  const operand = { kind: 'field', field: 'expiresAt' } as const
  const ofIdentities = { kind: 'not', of: equals('identityId', null) } as const
  const later = { kind: 'compare', operand, operator: '>', value: after } as const
  const where = both(both(ofIdentities, later), { kind: 'compare', operand, operator: '<=', value: until })
  return storage.read(async (tx): Promise<Found> => {
    const collection = tx.collection(enrollments)
    const { length: judged } = await collection.findIds({ limit: 1 })
    const wanted = await collection.findIds({ ...(where && { where }), limit: MOST_INVITATIONS })
    const instants = new Map<string, number>()
    for (const { identityId, createdAt, expiresAt } of await readEach(collection, wanted, turns)) {
      if (identityId === null || names.get('identities')?.get(identityId) === undefined) continue
      if (state === 'ended' || isEnding({ createdAt, expiresAt }, now)) instants.set(identityId, expiresAt)
    }
    return { ids: [...instants.keys()], instants, judged }
  })
}

/** An invitation is about to end within its last half: a new invitation is not. */
function isEnding(
  { createdAt, expiresAt }: Pick<RecordOf<typeof enrollments>, 'createdAt' | 'expiresAt'>,
  now: number,
): boolean {
  return expiresAt - now <= (expiresAt - createdAt) / 2
}

/** Entities that are not searched by name, in the form of named entities. */
export function unnamed(
  entities: readonly { readonly id: string; readonly name: string }[],
): Pick<Found, 'ids' | 'order'> {
  const entries = new Map(entities.map(({ id, name }) => [id, { id, name, folded: foldName(name) }]))
  return { ids: [...entries.keys()], order: { get: (id) => entries.get(id) } }
}
