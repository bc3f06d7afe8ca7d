import type { z } from 'zod'
import type { NameEntry, NameOrder } from '../../base/name-order.ts'
import { enrollments } from '../../enrollment/enrollment.resource.ts'
import { type Call, mayRead } from '../../kernel/context/call.ts'
import type { EngineContext } from '../../kernel/context/context.ts'
import { terminators } from '../../services/terminator.resource.ts'
import { pageOfIds } from '../graph/graph-members.ts'
import { ENDS, type GraphPolicy, type GroupedKind, type LinkType } from '../graph/index.ts'
import type { Names } from '../graph/names.ts'
import { inSlices, type Partition } from '../graph/partition.ts'
import { FINDING_KINDS, type Finding, type FindingKind, type FindingsRequest } from './reach.resource.ts'

/** The ports by which findings are made. */
type FindingsPorts = Pick<EngineContext, 'clock' | 'presence' | 'storage' | 'turns'>

/** An invitation that ends within this time (ms) is about to end. */
const SOON_MS = 86_400_000

/** The kind of entity that a finding is about, and the permissions that it takes. */
interface FindingFacts {
  readonly kind: string
  readonly reads: readonly string[]
}

const POLICY_KINDS = ['service-policies', 'edge-router-policies', 'service-edge-router-policies'] as const

const FACTS: Readonly<Record<FindingKind, FindingFacts>> = {
  'edge-routers-offline': { kind: 'edge-routers', reads: ['router'] },
  'services-without-terminators': { kind: 'services', reads: ['service', 'terminator'] },
  'services-without-edge-routers': { kind: 'services', reads: ['service', 'router', 'service-edge-router-policy'] },
  'services-without-identities': { kind: 'services', reads: ['service', 'identity', 'service-policy'] },
  'identities-without-services': { kind: 'identities', reads: ['service', 'identity', 'service-policy'] },
  'identities-without-edge-routers': { kind: 'identities', reads: ['identity', 'router', 'edge-router-policy'] },
  'policies-without-effect': { kind: 'policies', reads: ['identity', 'service', 'router', 'service-policy'] },
  'invitations-ended': { kind: 'identities', reads: ['identity', 'enrollment'] },
  'invitations-ending': { kind: 'identities', reads: ['identity', 'enrollment'] },
}

/**
 * Finds what is probably not meant so, of the kinds that a caller may read: all findings with the first of each, or a page of
 * one. Which entities policies leave out is worked out once for a revision of the network.
 */
export async function findings(
  context: FindingsPorts,
  call: Call,
  partition: Partition,
  names: Names,
  { finding: wanted, limit, cursor }: z.output<typeof FindingsRequest>,
): Promise<readonly Finding[]> {
  const readable = FINDING_KINDS.filter((kind) => FACTS[kind].reads.every((permission) => mayRead(call, permission)))
  const asked = wanted === undefined ? readable : readable.filter((kind) => kind === wanted)
  const found: Finding[] = []
  for (const finding of asked) {
    const { kind } = FACTS[finding]
    const ids = await idsOf(context, partition, names, finding)
    const orders = kind === 'policies' ? POLICY_KINDS : [kind]
    const order = joined(orders.flatMap((one) => names.get(one) ?? []))
    const page = { text: '', limit, ...(wanted !== undefined && { cursor }) }
    const { entries, nextCursor } = await pageOfIds(ids, order, page, context.turns)
    const entities = entries.map(({ id, name }) => ({
      kind: orders.find((one) => names.get(one)?.get(id) !== undefined) ?? kind,
      id,
      name,
    }))
    found.push({ finding, count: ids.length, entities, nextCursor })
  }
  return found
}

/** The names of several kinds, asked for by id. */
function joined(orders: readonly NameOrder[]): Pick<NameOrder, 'get'> {
  return {
    get: (id): NameEntry | undefined => orders.map((order) => order.get(id)).find((entry) => entry !== undefined),
  }
}

async function idsOf(
  { storage, clock, presence, turns }: FindingsPorts,
  partition: Partition,
  names: Names,
  finding: FindingKind,
): Promise<readonly string[]> {
  switch (finding) {
    case 'edge-routers-offline': {
      const ids = (partition.kinds.get('edge-routers')?.roster.ids ?? []).flatMap((id) => id ?? [])
      return storage.read(async (tx) => {
        const routers = await presence.at(tx)
        return ids.filter((id) => routers.connectionOf(id) === undefined)
      })
    }
    case 'services-without-terminators':
      return storage.read(async (tx) => {
        const hosted = new Set<string>()
        for await (const { items } of tx.collection(terminators).scan(['serviceId'])) {
          for (const { serviceId } of items) hosted.add(serviceId)
        }
        const ids = partition.kinds.get('services')?.roster.ids ?? []
        return ids.flatMap((id) => (id === undefined || hosted.has(id) ? [] : [id]))
      })
    case 'invitations-ended':
    case 'invitations-ending': {
      const now = clock.now()
      const isEnded = finding === 'invitations-ended'
      return storage.read(async (tx) => {
        const ids = new Set<string>()
        for await (const { items } of tx.collection(enrollments).scan(['identityId', 'expiresAt'])) {
          for (const { identityId, expiresAt } of items) {
            const isMeant = isEnded ? expiresAt <= now : expiresAt > now && expiresAt <= now + SOON_MS
            if (isMeant && identityId !== null && names.get('identities')?.get(identityId)) ids.add(identityId)
          }
        }
        return [...ids]
      })
    }
    default:
      return partition.remembered(finding, () => inSlices(turns, leftOut(partition, finding)))
  }
}

type Structural = Exclude<
  FindingKind,
  'edge-routers-offline' | 'services-without-terminators' | 'invitations-ended' | 'invitations-ending'
>

const SERVICE_ACCESS: readonly LinkType[] = ['Dial', 'Bind']

/** Findings of entities of a kind that no policy of these types links with anything of the other kind. */
const LACKING: Readonly<
  Record<Exclude<Structural, 'policies-without-effect'>, { kind: GroupedKind; types: readonly LinkType[]; side: 0 | 1 }>
> = {
  'services-without-edge-routers': { kind: 'services', types: ['service-edge-router'], side: 0 },
  'services-without-identities': { kind: 'services', types: ['Dial'], side: 1 },
  'identities-without-services': { kind: 'identities', types: SERVICE_ACCESS, side: 0 },
  'identities-without-edge-routers': { kind: 'identities', types: ['edge-router'], side: 0 },
}

/** The entities, or policies, that are linked with nothing. It yields between small pieces of work. */
function* leftOut(partition: Partition, finding: Structural): Generator<void, readonly string[]> {
  const selected = yield* selectedBy(partition)
  if (finding === 'policies-without-effect') {
    const isEmpty = (_: GraphPolicy, place: number) => selected.some((side) => !side.has(place))
    return partition.policies.filter(isEmpty).map(({ id }) => id)
  }
  const { kind, types, side } = LACKING[finding]
  const others = selected[side === 0 ? 1 : 0]
  const classified = partition.kinds.get(kind)
  if (classified === undefined || others === undefined) return []
  const linked = classified.classes.map(({ policies }) =>
    policies.some((place) => others.has(place) && types.includes(partition.policies[place]?.type ?? 'Dial')),
  )
  const ids: string[] = []
  for (const [slot, id] of classified.roster.ids.entries()) {
    if (slot % PIECE === 0) yield
    if (id !== undefined && linked[classified.classOf[slot] ?? -1] === false) ids.push(id)
  }
  return ids
}

const PIECE = 256

/** The places of the policies that select anything on the side that links lead from, and on the one that they lead to. */
function* selectedBy(partition: Partition): Generator<void, readonly [ReadonlySet<number>, ReadonlySet<number>]> {
  const sides = [new Set<number>(), new Set<number>()] as const
  for (const [kind, { classes }] of partition.kinds) {
    for (const [at, { policies, count }] of classes.entries()) {
      if (at % PIECE === 0) yield
      if (count === 0) continue
      for (const place of policies) {
        const type = partition.policies[place]?.type
        if (type !== undefined) sides[ENDS[type].from === kind ? 0 : 1].add(place)
      }
    }
  }
  return sides
}
