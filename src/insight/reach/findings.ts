import type { z } from 'zod'
import type { NameEntry, NameOrder } from '../../base/name-order.ts'
import { type Call, mayRead } from '../../context/call.ts'
import { POLICY_KINDS } from '../../facts/access/index/index.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { compareSemVer, parseReportedVersion, type SemVer } from '../../facts/access/posture/checks/semver.ts'
import type { GraphPolicy, GroupedKind, LinkType } from '../../facts/insight/graph/index.ts'
import {
  FINDING_KINDS,
  type Finding,
  type FindingKind,
  type FindingsRequest,
} from '../../facts/insight/reach/reach.resource.ts'
import { equals } from '../../kernel/filter/index.ts'
import {
  endingAuthorities,
  endingCertificates,
  endingOfIdentities,
  type FindingSources,
  type Found,
  invitations,
  onePasswordAdministrators,
  readEach,
  unseenIdentities,
} from './found-credentials.ts'
import { clockBehind, oldBackup, routerClocks } from './found-upkeep.ts'
import { pageOfIds } from './member-pages.ts'
import { inSlices, type Partition, type SelectingPolicies } from './partition.ts'
import { unusedPolicies } from './unused-policies.ts'

/** The kinds of entity that a finding is about, the permissions that it takes, and how it is found. */
interface FindingFacts {
  readonly kinds: readonly string[]
  /** Other kinds without which there is nothing to find: where there are no services, no identity is to blame that it reaches none. */
  readonly besides?: readonly string[]
  readonly reads: readonly string[]
  readonly find: (sources: FindingSources) => Promise<Found>
}

/** Every finding is decided by one function. */
const FACTS: Readonly<Record<FindingKind, FindingFacts>> = {
  'edge-routers-offline': { kinds: ['edge-routers'], reads: ['router'], find: offlineRouters },
  'clock-behind': { kinds: ['clocks'], reads: ['ops'], find: clockBehind },
  'edge-router-clocks': { kinds: ['edge-routers'], reads: ['router'], find: routerClocks },
  'backups-old': { kinds: ['backups'], reads: ['ops'], find: oldBackup },
  'authorities-ending': { kinds: ['network-authorities'], reads: ['ops'], find: endingAuthorities },
  'services-without-terminators': { kinds: ['services'], reads: ['service', 'terminator'], find: unhostedServices },
  'services-without-edge-routers': {
    kinds: ['services'],
    reads: ['service', 'router', 'service-edge-router-policy'],
    find: (sources) => leftOutBy(sources, 'services-without-edge-routers'),
  },
  'certificates-ending': { kinds: ['edge-routers', 'cas'], reads: ['router', 'ca'], find: endingCertificates },
  'identity-certificates-ending': {
    kinds: ['identities'],
    reads: ['identity', 'authenticator'],
    find: endingOfIdentities,
  },
  'administrators-without-second-factor': {
    kinds: ['identities'],
    reads: ['identity', 'authenticator'],
    find: onePasswordAdministrators,
  },
  'identities-not-seen': { kinds: ['identities'], reads: ['identity'], find: unseenIdentities },
  'services-without-identities': {
    kinds: ['services'],
    reads: ['service', 'identity', 'service-policy'],
    find: (sources) => leftOutBy(sources, 'services-without-identities'),
  },
  'identities-without-services': {
    kinds: ['identities'],
    besides: ['services'],
    reads: ['service', 'identity', 'service-policy'],
    find: (sources) => leftOutBy(sources, 'identities-without-services'),
  },
  'identities-without-edge-routers': {
    kinds: ['identities'],
    besides: ['edge-routers'],
    reads: ['identity', 'router', 'edge-router-policy'],
    find: (sources) => leftOutBy(sources, 'identities-without-edge-routers'),
  },
  'policies-without-effect': {
    kinds: POLICY_KINDS,
    reads: ['identity', 'service', 'router', 'service-policy'],
    find: (sources) => leftOutBy(sources, 'policies-without-effect'),
  },
  'policies-over': { kinds: ['service-policies'], reads: ['service-policy'], find: policiesOver },
  'policies-unused': {
    kinds: ['service-policies'],
    reads: ['identity', 'service-policy'],
    find: unusedPolicies,
  },
  'edge-routers-behind': { kinds: ['edge-routers'], reads: ['router'], find: routersBehind },
  'invitations-ended': {
    kinds: ['identities'],
    reads: ['identity', 'enrollment'],
    find: (sources) => invitations(sources, 'ended'),
  },
  'invitations-ending': {
    kinds: ['identities'],
    reads: ['identity', 'enrollment'],
    find: (sources) => invitations(sources, 'ending'),
  },
}

/**
 * Finds probable mistakes and what ends soon, of the kinds that a caller may read: all findings with the first of each, or a page of one.
 * The entities that policies leave out are computed once for a revision of the network.
 */
export async function findings(
  sources: FindingSources,
  call: Call,
  { finding: wanted, limit, cursor }: z.output<typeof FindingsRequest>,
): Promise<readonly Finding[]> {
  const { context, names } = sources
  const readable = FINDING_KINDS.filter((kind) => FACTS[kind].reads.every((permission) => mayRead(call, permission)))
  const asked = wanted === undefined ? readable : readable.filter((kind) => kind === wanted)
  const made: Finding[] = []
  for (const finding of asked) {
    const { kinds, besides = [], find } = FACTS[finding]
    const sizeOf = (kind: string) => names.get(kind)?.size ?? 0
    const found = besides.every((kind) => sizeOf(kind) > 0) ? await find(sources) : { ids: [], judged: 0 }
    const orders = kinds.flatMap((kind) => names.get(kind) ?? [])
    const order = found.order ?? { get: (id) => entryIn(orders, id) }
    const page = { text: '', limit, ...(wanted !== undefined && { cursor }) }
    const { entries, nextCursor } = await pageOfIds(found.ids, order, page, context.turns)
    const entities = entries.map(({ id, name }) => {
      const at = found.instants?.get(id)
      return {
        kind: kinds.find((one) => names.get(one)?.get(id) !== undefined) ?? kinds[0] ?? '',
        id,
        name,
        at: at === undefined ? null : new Date(at).toISOString(),
        detail: found.details?.get(id) ?? null,
      }
    })
    const judged = found.judged ?? kinds.reduce((sum, kind) => sum + sizeOf(kind), 0)
    made.push({ finding, count: found.ids.length, judged, entities, nextCursor })
  }
  return made
}

/** The entry of an id in the order of its kind. */
function entryIn(orders: readonly NameOrder[], id: string): NameEntry | undefined {
  return orders.map((order) => order.get(id)).find((entry) => entry !== undefined)
}

function everybody(partition: Partition, kind: GroupedKind): readonly string[] {
  return partition.kinds.get(kind)?.members.flat() ?? []
}

function offlineRouters({ context: { storage, presence }, partition }: FindingSources): Promise<Found> {
  return storage.read(async (tx) => {
    const routers = await presence.at(tx)
    return { ids: everybody(partition, 'edge-routers').filter((id) => routers.connectionOf(id) === undefined) }
  })
}

function unhostedServices({ context: { storage }, partition, hosted }: FindingSources): Promise<Found> {
  return storage.read(async (tx) => {
    const isHosted = await hosted.at(tx)
    return { ids: everybody(partition, 'services').filter((id) => !isHosted(id)) }
  })
}

/** Policies of one finding that are read at most. */
const MOST_OVER = 1000

/** Service policies whose term is over, by the index of phases. */
function policiesOver({ context: { storage, turns } }: FindingSources): Promise<Found> {
  return storage.read(async (tx) => {
    const collection = tx.collection(servicePolicies)
    const ids = await collection.findIds({ where: equals('phase', 'over'), limit: MOST_OVER })
    const instants = new Map(
      (await readEach(collection, ids, turns)).flatMap(({ id, until }) =>
        until === null ? [] : [[id, until] as const],
      ),
    )
    return { ids, instants }
  })
}

/** Connected edge routers whose software is older than that of another. */
function routersBehind({ context: { storage, presence }, partition }: FindingSources): Promise<Found> {
  return storage.read(async (tx) => {
    const routers = await presence.at(tx)
    const known = everybody(partition, 'edge-routers').flatMap((id) => {
      const version = releaseOf(routers.connectionOf(id)?.versionInfo?.version ?? '')
      return version === undefined ? [] : [{ id, version }]
    })
    const newest = known.reduce((most, { version }) => (compareSemVer(version, most) > 0 ? version : most), UNRELEASED)
    const behind = known.filter(({ version }) => compareSemVer(version, newest) < 0)
    const details = new Map(behind.map(({ id, version }) => [id, `${textOf(version)}, another runs ${textOf(newest)}`]))
    // One version alone is behind nothing.
    return { ids: behind.map(({ id }) => id), details, judged: known.length > 1 ? known.length : 0 }
  })
}

/** The version of a release such as `v1.6.2`; undefined for a development build. */
function releaseOf(text: string): SemVer | undefined {
  if (!/^v?\d+\.\d+\.\d+$/.test(text)) return undefined
  const version = parseReportedVersion(text.replace('v', ''))
  return version === undefined || compareSemVer(version, UNRELEASED) === 0 ? undefined : version
}

function textOf({ major, minor, patch }: SemVer): string {
  return `${major}.${minor}.${patch}`
}

const UNRELEASED: SemVer = { major: 0, minor: 0, patch: 0, prerelease: [] }

async function leftOutBy({ context: { turns }, partition }: FindingSources, finding: Structural): Promise<Found> {
  const ids = await partition.remembered(finding, async () =>
    inSlices(turns, leftOut(partition, finding, await partition.selecting(turns))),
  )
  return { ids }
}

type Structural = keyof typeof LACKING | 'policies-without-effect'

const SERVICE_ACCESS: readonly LinkType[] = ['Dial', 'Bind']

/** Findings of entities of a kind that no policy of these types links with an entity of the other kind. */
const LACKING = {
  'services-without-edge-routers': { kind: 'services', types: ['service-edge-router'], side: 0 },
  'services-without-identities': { kind: 'services', types: ['Dial'], side: 1 },
  'identities-without-services': { kind: 'identities', types: SERVICE_ACCESS, side: 0 },
  'identities-without-edge-routers': { kind: 'identities', types: ['edge-router'], side: 0 },
} as const satisfies Readonly<Record<string, { kind: GroupedKind; types: readonly LinkType[]; side: 0 | 1 }>>

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
  const isLinking = (place: number) =>
    others.has(place) && types.some((type) => type === (partition.policies[place]?.type ?? 'Dial'))
  const ids: string[][] = []
  for (const [at, { policies }] of classified.classes.entries()) {
    if (at % PIECE === 0) yield
    if (!policies.some(isLinking)) ids.push([...(classified.members[at] ?? [])])
  }
  return ids.flat()
}

const PIECE = 256
