import type { z } from 'zod'
import type { NameEntry, NameOrder } from '../../base/name-order.ts'
import { type Call, mayRead } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { enrollments } from '../../facts/enrollment/enrollment.resource.ts'
import type { GraphPolicy, GroupedKind, LinkType } from '../../facts/insight/graph/index.ts'
import {
  FINDING_KINDS,
  type Finding,
  type FindingKind,
  type FindingsRequest,
} from '../../facts/insight/reach/reach.resource.ts'
import { terminators } from '../../facts/services/terminator.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { pageOfIds } from './member-pages.ts'
import type { Names } from './names.ts'
import { inSlices, type Partition, type SelectingPolicies } from './partition.ts'

/** An invitation is about to end within this time (ms), and within the last half of its life: a new one is not. */
const SOON_MS = 86_400_000

function isEnding(
  { createdAt, expiresAt }: Pick<RecordOf<typeof enrollments>, 'createdAt' | 'expiresAt'>,
  now: number,
) {
  return expiresAt > now && expiresAt - now <= Math.min(SOON_MS, (expiresAt - createdAt) / 2)
}

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
 * Finds probable mistakes, of the kinds that a caller may read: all findings with the first of each, or a page of one.
 * The entities that policies leave out are computed once for a revision of the network.
 */
export async function findings(
  context: EngineContext,
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

function everybody(partition: Partition, kind: GroupedKind): readonly string[] {
  return partition.kinds.get(kind)?.members.flat() ?? []
}

/** The names of several kinds, asked for by id. */
function joined(orders: readonly NameOrder[]): Pick<NameOrder, 'get'> {
  return {
    get: (id): NameEntry | undefined => orders.map((order) => order.get(id)).find((entry) => entry !== undefined),
  }
}

async function idsOf(
  { storage, clock, presence, turns }: EngineContext,
  partition: Partition,
  names: Names,
  finding: FindingKind,
): Promise<readonly string[]> {
  switch (finding) {
    case 'edge-routers-offline': {
      const ids = everybody(partition, 'edge-routers')
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
        return everybody(partition, 'services').filter((id) => !hosted.has(id))
      })
    case 'invitations-ended':
    case 'invitations-ending': {
      const now = clock.now()
      const isEnded = finding === 'invitations-ended'
      return storage.read(async (tx) => {
        const ids = new Set<string>()
        for await (const { items } of tx.collection(enrollments).scan(['identityId', 'expiresAt', 'createdAt'])) {
          for (const { identityId, ...invitation } of items) {
            const isMeant = isEnded ? invitation.expiresAt <= now : isEnding(invitation, now)
            if (isMeant && identityId !== null && names.get('identities')?.get(identityId)) ids.add(identityId)
          }
        }
        return [...ids]
      })
    }
    default:
      return partition.remembered(finding, async () =>
        inSlices(turns, leftOut(partition, finding, await partition.selecting(turns))),
      )
  }
}

type Structural = Exclude<
  FindingKind,
  'edge-routers-offline' | 'services-without-terminators' | 'invitations-ended' | 'invitations-ending'
>

const SERVICE_ACCESS: readonly LinkType[] = ['Dial', 'Bind']

/** Findings of entities of a kind that no policy of these types links with an entity of the other kind. */
const LACKING: Readonly<
  Record<Exclude<Structural, 'policies-without-effect'>, { kind: GroupedKind; types: readonly LinkType[]; side: 0 | 1 }>
> = {
  'services-without-edge-routers': { kind: 'services', types: ['service-edge-router'], side: 0 },
  'services-without-identities': { kind: 'services', types: ['Dial'], side: 1 },
  'identities-without-services': { kind: 'identities', types: SERVICE_ACCESS, side: 0 },
  'identities-without-edge-routers': { kind: 'identities', types: ['edge-router'], side: 0 },
}

/** The entities, or policies, that are linked with nothing. It yields between small pieces of work. */
function* leftOut(
  partition: Partition,
  finding: Structural,
  selecting: SelectingPolicies,
): Generator<void, readonly string[]> {
  if (finding === 'policies-without-effect') {
    const isEmpty = (_: GraphPolicy, place: number) => selecting.some((side) => !side.has(place))
    return partition.policies.filter(isEmpty).map(({ id }) => id)
  }
  const { kind, types, side } = LACKING[finding]
  const others = selecting[side === 0 ? 1 : 0]
  const classified = partition.kinds.get(kind)
  if (classified === undefined) return []
  const isLinking = (place: number) => others.has(place) && types.includes(partition.policies[place]?.type ?? 'Dial')
  const ids: string[][] = []
  for (const [at, { policies }] of classified.classes.entries()) {
    if (at % PIECE === 0) yield
    if (!policies.some(isLinking)) ids.push([...(classified.members[at] ?? [])])
  }
  return ids.flat()
}

const PIECE = 256
