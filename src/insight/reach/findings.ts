import type { z } from 'zod'
import { administrators } from '../../authority/trust.ts'
import type { NameEntry, NameOrder } from '../../base/name-order.ts'
import { type Call, mayRead } from '../../context/call.ts'
import type { EngineContext } from '../../context/context.ts'
import { POLICY_KINDS } from '../../facts/access/index/index.ts'
import { servicePolicies } from '../../facts/access/policy.resource.ts'
import { compareSemVer, parseReportedVersion, type SemVer } from '../../facts/access/posture/checks/semver.ts'
import { isDisabled } from '../../facts/authority/authority.rules.ts'
import { authenticators } from '../../facts/credentials/authenticator.resource.ts'
import { cas } from '../../facts/enrollment/ca.resource.ts'
import { enrollments } from '../../facts/enrollment/enrollment.resource.ts'
import type { GraphPolicy, GroupedKind, LinkType } from '../../facts/insight/graph/index.ts'
import {
  FINDING_KINDS,
  type Finding,
  type FindingKind,
  type FindingsRequest,
} from '../../facts/insight/reach/reach.resource.ts'
import { mfas } from '../../facts/login/mfa.resource.ts'
import { endOfCertificate } from '../../facts/pki/certificate-end.rules.ts'
import { edgeRouters } from '../../facts/routers/edge-router.resource.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { both, equals, isIn } from '../../kernel/filter/index.ts'
import type { HostedServices } from './hosted-services.ts'
import { pageOfIds } from './member-pages.ts'
import type { Names } from './names.ts'
import { inSlices, type Partition, type SelectingPolicies } from './partition.ts'

const DAY_MS = 86_400_000
/** A certificate ends soon within this time (ms): long enough to bring a new one to where it is used. */
const CERTIFICATE_SOON_MS = 30 * DAY_MS
/** Invitations of one finding that are listed at most. */
const MOST_INVITATIONS = 1000

/** The sources of findings. */
interface Sources {
  readonly context: EngineContext
  readonly partition: Partition
  readonly names: Names
  readonly hosted: HostedServices
}

/** The kinds of entity that a finding is about, the permissions that it takes, and how it is found. */
interface FindingFacts {
  readonly kinds: readonly string[]
  readonly reads: readonly string[]
  readonly find: (sources: Sources) => Promise<readonly string[]>
}

/** Every finding is decided by one function. */
const FACTS: Readonly<Record<FindingKind, FindingFacts>> = {
  'edge-routers-offline': { kinds: ['edge-routers'], reads: ['router'], find: offlineRouters },
  'services-without-terminators': { kinds: ['services'], reads: ['service', 'terminator'], find: unhostedServices },
  'services-without-edge-routers': {
    kinds: ['services'],
    reads: ['service', 'router', 'service-edge-router-policy'],
    find: (sources) => leftOutBy(sources, 'services-without-edge-routers'),
  },
  'certificates-ending': { kinds: ['edge-routers', 'cas'], reads: ['router', 'ca'], find: endingCertificates },
  'administrators-without-second-factor': {
    kinds: ['identities'],
    reads: ['identity', 'authenticator'],
    find: onePasswordAdministrators,
  },
  'services-without-identities': {
    kinds: ['services'],
    reads: ['service', 'identity', 'service-policy'],
    find: (sources) => leftOutBy(sources, 'services-without-identities'),
  },
  'identities-without-services': {
    kinds: ['identities'],
    reads: ['service', 'identity', 'service-policy'],
    find: (sources) => leftOutBy(sources, 'identities-without-services'),
  },
  'identities-without-edge-routers': {
    kinds: ['identities'],
    reads: ['identity', 'router', 'edge-router-policy'],
    find: (sources) => leftOutBy(sources, 'identities-without-edge-routers'),
  },
  'policies-without-effect': {
    kinds: POLICY_KINDS,
    reads: ['identity', 'service', 'router', 'service-policy'],
    find: (sources) => leftOutBy(sources, 'policies-without-effect'),
  },
  'policies-over': { kinds: ['service-policies'], reads: ['service-policy'], find: policiesOver },
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
 * Finds probable mistakes, of the kinds that a caller may read: all findings with the first of each, or a page of one.
 * The entities that policies leave out are computed once for a revision of the network.
 */
export async function findings(
  sources: Sources,
  call: Call,
  { finding: wanted, limit, cursor }: z.output<typeof FindingsRequest>,
): Promise<readonly Finding[]> {
  const { context, names } = sources
  const readable = FINDING_KINDS.filter((kind) => FACTS[kind].reads.every((permission) => mayRead(call, permission)))
  const asked = wanted === undefined ? readable : readable.filter((kind) => kind === wanted)
  const found: Finding[] = []
  for (const finding of asked) {
    const { kinds, find } = FACTS[finding]
    const ids = await find(sources)
    const order = joined(kinds.flatMap((one) => names.get(one) ?? []))
    const page = { text: '', limit, ...(wanted !== undefined && { cursor }) }
    const { entries, nextCursor } = await pageOfIds(ids, order, page, context.turns)
    const entities = entries.map(({ id, name }) => ({
      kind: kinds.find((one) => names.get(one)?.get(id) !== undefined) ?? '',
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

function offlineRouters({ context: { storage, presence }, partition }: Sources): Promise<readonly string[]> {
  return storage.read(async (tx) => {
    const routers = await presence.at(tx)
    return everybody(partition, 'edge-routers').filter((id) => routers.connectionOf(id) === undefined)
  })
}

function unhostedServices({ context: { storage }, partition, hosted }: Sources): Promise<readonly string[]> {
  return storage.read(async (tx) => {
    const isHosted = await hosted.at(tx)
    return everybody(partition, 'services').filter((id) => !isHosted(id))
  })
}

/** Routers and certificate authorities whose certificate ends soon, or has ended. */
function endingCertificates({ context: { storage, clock, turns } }: Sources): Promise<readonly string[]> {
  return storage.read(async (tx) => {
    const turn = turns.begin()
    const ids: string[] = []
    const look = async ({ id, certPem }: { readonly id: string; readonly certPem: string | null }) => {
      const endsAt = certPem === null ? undefined : endOfCertificate(certPem)
      if (endsAt !== undefined && endsAt <= clock.now() + CERTIFICATE_SOON_MS) ids.push(id)
      await turn()
    }
    for await (const { items } of tx.collection(edgeRouters).scan(['certPem'])) for (const one of items) await look(one)
    for await (const { items } of tx.collection(cas).scan(['certPem'])) for (const one of items) await look(one)
    return ids
  })
}

/** Administrators that log in by a password alone. They are found by an index; a network has few. */
function onePasswordAdministrators({ context: { storage, clock } }: Sources): Promise<readonly string[]> {
  return storage.read(async (tx) => {
    const enabled = (await administrators(tx)).filter((one) => !isDisabled(one, clock.now()))
    const where = isIn('identityId', new Set(enabled.map(({ id }) => id)))
    const passwords = (await tx.collection(authenticators).find({ where })).items.filter((one) => one.method === 'updb')
    const proved = (await tx.collection(mfas).find({ where })).items.filter(({ isVerified }) => isVerified)
    const safe = new Set(proved.map(({ identityId }) => identityId))
    return [...new Set(passwords.map(({ identityId }) => identityId))].filter((id) => !safe.has(id))
  })
}

/** Service policies whose term is over, by the index of phases. */
function policiesOver({ context: { storage } }: Sources): Promise<readonly string[]> {
  return storage.read(async (tx) => tx.collection(servicePolicies).findIds({ where: equals('phase', 'over') }))
}

/** Connected edge routers whose software is older than that of another. */
function routersBehind({ context: { storage, presence }, partition }: Sources): Promise<readonly string[]> {
  return storage.read(async (tx) => {
    const routers = await presence.at(tx)
    const known = everybody(partition, 'edge-routers').flatMap((id) => {
      const version = releaseOf(routers.connectionOf(id)?.versionInfo?.version ?? '')
      return version === undefined ? [] : [{ id, version }]
    })
    const newest = known.reduce((most, { version }) => (compareSemVer(version, most) > 0 ? version : most), UNRELEASED)
    return known.filter(({ version }) => compareSemVer(version, newest) < 0).map(({ id }) => id)
  })
}

/** The version of a release such as `v1.6.2`; undefined for a development build. */
function releaseOf(text: string): SemVer | undefined {
  if (!/^v?\d+\.\d+\.\d+$/.test(text)) return undefined
  const version = parseReportedVersion(text.replace('v', ''))
  return version === undefined || compareSemVer(version, UNRELEASED) === 0 ? undefined : version
}

const UNRELEASED: SemVer = { major: 0, minor: 0, patch: 0, prerelease: [] }

/**
 * Identities with an invitation that has ended, or that is about to end, as the storage finds them: at most a thousand of each. Ended
 * invitations do not hide another that is about to end.
 */
function invitations({ context: { storage, clock }, names }: Sources, state: 'ended' | 'ending') {
  const now = clock.now()
  const [after, until] = state === 'ended' ? [0, now] : [now, now + DAY_MS]
  const operand = { kind: 'field', field: 'expiresAt' } as const
  const ofIdentities = { kind: 'not', of: equals('identityId', null) } as const
  const later = { kind: 'compare', operand, operator: '>', value: after } as const
  const where = both(both(ofIdentities, later), { kind: 'compare', operand, operator: '<=', value: until })
  return storage.read(async (tx): Promise<readonly string[]> => {
    const { items } = await tx.collection(enrollments).find({ ...(where && { where }), limit: MOST_INVITATIONS })
    const meant = items.filter((one) => state === 'ended' || isEnding(one, now))
    const ids = new Set(meant.flatMap(({ identityId }) => identityId ?? []))
    return [...ids].filter((id) => names.get('identities')?.get(id) !== undefined)
  })
}

/** An invitation is about to end within its last half: a new invitation is not. */
function isEnding({ createdAt, expiresAt }: RecordOf<typeof enrollments>, now: number): boolean {
  return expiresAt - now <= (expiresAt - createdAt) / 2
}

function leftOutBy({ context: { turns }, partition }: Sources, finding: Structural): Promise<readonly string[]> {
  return partition.remembered(finding, async () =>
    inSlices(turns, leftOut(partition, finding, await partition.selecting(turns))),
  )
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
