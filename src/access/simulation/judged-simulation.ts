import { z } from 'zod'
import { invalidField, notFound } from '../../base/errors.ts'
import type { EngineContext } from '../../context/context.ts'
import { AssumedPosture, SimulatedIdentities } from '../../facts/access/access-questions.resource.ts'
import { decideAccess } from '../../facts/access/decision.rules.ts'
import type { AccessIndex, AccessType, Grant } from '../../facts/access/index/index.ts'
import { indexedEntity } from '../../facts/access/indexed-records.ts'
import type { PostureData, PostureResponse } from '../../facts/access/posture/rules/index.ts'
import { isDisabled } from '../../facts/authority/authority.rules.ts'
import { type Identities, identities } from '../../facts/identities/identity.resource.ts'
import { resourceNamed } from '../../facts/resources/index.ts'
import { EpochMs } from '../../kernel/declaration/fields.ts'
import { readRequest, readValue } from '../../kernel/declaration/read-body.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { compareStrings, ids } from '../../kernel/filter/index.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import type { Turns } from '../../ports/runtime.ts'
import { findOne } from '../../records/read-records.ts'
import { factsFor } from '../decision.ts'
import { newestApiSession, postureAt } from '../explain.ts'
import type { CheckedGrant } from '../posture/posture-of.ts'
import { changedIndex } from './access-mirror.ts'
import {
  type ChangedPair,
  membersOf,
  type PairKey,
  type SimulatedCircumstances,
  type SimulationResult,
} from './audience-changes.ts'
import { type ResolvedChanges, resolveChanges, type SimulatedChange, type SimulatedKind } from './resolve-changes.ts'

/** How many identities are judged for one page. */
const MOST_JUDGED = 100

/** How many services of an identity are judged at once. */
const SERVICES_AT_ONCE = 32

const ACCESS_TYPES = ['Bind', 'Dial'] as const satisfies readonly AccessType[]

/** The API session and the instant (epoch ms) of the judgement, and the turn that yields the thread meanwhile. */
interface Judgement {
  readonly apiSessionId: string | undefined
  readonly now: number
  readonly turn: ReturnType<Turns['begin']>
}

interface Page {
  readonly limit: number
  readonly cursor: string | undefined
}

/**
 * Simulates the gains and losses of identities by changes, by reports of their endpoints and by time: rights that pass now are compared
 * with rights that would pass then. Pairs are by identity, service, and type; counts are of the identities of the page.
 */
export async function judgedSimulation(
  context: EngineContext,
  changes: readonly SimulatedChange[],
  circumstances: SimulatedCircumstances,
  page: Page,
): Promise<SimulationResult> {
  const now = context.clock.now()
  const at = readValue('at', EpochMs.optional(), circumstances.at) ?? now
  const mfa = readValue('mfa', z.boolean().optional(), circumstances.mfa)
  const named = readValue('identities', SimulatedIdentities.optional(), circumstances.identities)
  // The schema reads posture responses, as their type says.
  const posture = readRequest(AssumedPosture, circumstances.posture ?? []) as readonly PostureResponse[]
  const after = page.cursor === undefined ? undefined : readPlace(page.cursor)
  return context.storage.read(async (tx) => {
    const resolved = await resolveChanges(tx, changes, context.turns, (record) => indexedEntity(record, now))
    const { judged, isLast } = await judgedIdentities(tx, named, after?.identityId)
    const before = await context.access.at(tx)
    const changed = await changedIndex(
      context,
      tx,
      judged.map(({ id }) => id),
      resolved.indexChanges,
    )
    const turn = context.turns.begin()
    const counts = { dial: { gained: 0, lost: 0 }, bind: { gained: 0, lost: 0 } }
    const keys: PairKey[] = []
    for (const identity of judged) {
      const apiSessionId = await newestApiSession(tx, identity.id)
      const known = await postureAt(tx, identity.id, apiSessionId, {}, now)
      const assumed = await postureAt(tx, identity.id, apiSessionId, { posture, mfa }, at)
      const were = isDisabled(identity, now)
        ? []
        : await passing(context, tx, before, identity.id, known, { apiSessionId, now, turn })
      const are = isDisabled(identity, at)
        ? []
        : await passing(context, tx, changed, identity.id, assumed, { apiSessionId, now: at, turn })
      for (const key of differences(identity.id, were, are)) {
        counts[key.type === 'Dial' ? 'dial' : 'bind'][key.change] += 1
        if (after === undefined || comparePlaces(key, after) > 0) keys.push(key)
      }
      await turn()
    }
    const shown = keys.slice(0, page.limit)
    const end = keys.length > page.limit ? shown.at(-1) : isLast ? undefined : endOf(judged)
    return {
      revision: tx.revision,
      counts: after === undefined ? counts : null,
      pairs: await withNames(tx, resolved, shown),
      nextCursor: end === undefined ? null : writePlace(end),
    }
  })
}

/** The identities of a page: the named ones, or all from a place on, by id. */
async function judgedIdentities(
  tx: ReadTransaction,
  named: readonly string[] | undefined,
  from = '',
): Promise<{ readonly judged: readonly RecordOf<Identities>[]; readonly isLast: boolean }> {
  if (named !== undefined) {
    const judged = new Map<string, RecordOf<Identities>>()
    for (const one of named) {
      const identity = (await tx.collection(identities).get(one)) ?? (await findOne(tx, identities, 'name', one))
      if (identity === undefined) throw notFound('identity', one)
      judged.set(identity.id, identity)
    }
    const ordered = [...judged.values()].sort((a, b) => compareStrings(a.id, b.id))
    return { judged: ordered.filter(({ id }) => id >= from), isLast: true }
  }
  const where = { kind: 'compare', operand: { kind: 'field', field: 'id' }, operator: '>=', value: from } as const
  const { items, totalCount } = await tx.collection(identities).find({ where, limit: MOST_JUDGED })
  return { judged: items, isLast: totalCount <= MOST_JUDGED }
}

/** Lists the services that an identity may dial and bind, with the types. */
async function passing(
  context: EngineContext,
  tx: ReadTransaction,
  index: AccessIndex,
  identityId: string,
  data: PostureData,
  { apiSessionId = '', now, turn }: Judgement,
): Promise<readonly string[]> {
  const serviceIds = index.servicesOf(identityId)
  const posture = { data, apiSessionId }
  const asked = { index, posture: 'brought', everyPolicy: false, known: new Map<Grant, CheckedGrant>() } as const
  const marks: string[] = []
  for (let from = 0; from < serviceIds.length; from += SERVICES_AT_ONCE) {
    await turn()
    const some = serviceIds.slice(from, from + SERVICES_AT_ONCE)
    const pairs = some.map((serviceId) => ({ identityId, serviceId }))
    const loaded = await factsFor(context, tx, pairs, asked)
    const typesOf = new Map(
      [...new Set(loaded)].map((facts) => {
        const may = (type: AccessType) => decideAccess(type, { ...facts, posture }, now).verdict === 'allowed'
        return [facts, ACCESS_TYPES.filter(may)]
      }),
    )
    for (const [place, facts] of loaded.entries()) {
      for (const type of typesOf.get(facts) ?? []) marks.push(`${type} ${some[place] ?? ''}`)
    }
  }
  return marks
}

function differences(identityId: string, were: readonly string[], are: readonly string[]): readonly PairKey[] {
  const [before, after] = [new Set(were), new Set(are)]
  const keyOf = (change: PairKey['change']) => (mark: string) => {
    const type: AccessType = mark.startsWith('Dial') ? 'Dial' : 'Bind'
    return { identityId, serviceId: mark.slice(5), type, change }
  }
  const gained = are.filter((mark) => !before.has(mark)).map(keyOf('gained'))
  const lost = were.filter((mark) => !after.has(mark)).map(keyOf('lost'))
  return [...gained, ...lost].sort(comparePlaces)
}

type Place = Pick<PairKey, 'identityId' | 'serviceId' | 'type'>

function comparePlaces(one: Place, other: Place): number {
  return (
    compareStrings(one.identityId, other.identityId) ||
    compareStrings(one.serviceId, other.serviceId) ||
    compareStrings(one.type, other.type)
  )
}

/** The place after everything of the last identity of a page. */
function endOf(judged: readonly { readonly id: string }[]): Place | undefined {
  const last = judged.at(-1)
  return last && { identityId: last.id, serviceId: '\uffff', type: 'Dial' }
}

function writePlace({ identityId, serviceId, type }: Place): string {
  return JSON.stringify([identityId, serviceId, type])
}

function readPlace(text: string): Place {
  const [identityId, serviceId, type] = membersOf(text)
  const isType = type === 'Dial' || type === 'Bind'
  if (typeof identityId === 'string' && typeof serviceId === 'string' && isType) return { identityId, serviceId, type }
  throw invalidField('cursor', 'is not a nextCursor of a simulation', text)
}

/** Pairs with the names of their entities, as they are or would be. */
export async function withNames(
  tx: ReadTransaction,
  resolved: ResolvedChanges,
  keys: readonly PairKey[],
): Promise<readonly ChangedPair[]> {
  const identities = await namesOf(tx, 'identities', resolved, new Set(keys.map(({ identityId }) => identityId)))
  const services = await namesOf(tx, 'services', resolved, new Set(keys.map(({ serviceId }) => serviceId)))
  return keys.map(({ identityId, serviceId, type, change }) => ({
    identity: { id: identityId, name: identities.get(identityId) ?? '' },
    service: { id: serviceId, name: services.get(serviceId) ?? '' },
    type,
    change,
  }))
}

async function namesOf(
  tx: ReadTransaction,
  kind: SimulatedKind,
  resolved: ResolvedChanges,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const { items } = await tx.collection(resourceNamed(kind)).find({ where: ids(wanted) })
  const stored = new Map(items.map(({ id, name }) => [id, String(name)]))
  return new Map([...wanted].map((id) => [id, resolved.nameOf(kind, id) ?? stored.get(id) ?? '']))
}
