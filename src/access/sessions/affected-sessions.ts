import { identities } from '../../identities/identity.resource.ts'
import type { EngineContext } from '../../kernel/context/context.ts'
import { changesTo, type RecordedChange } from '../../kernel/context/recorded-changes.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import { ids } from '../../kernel/filter/index.ts'
import { apiSessions } from '../../login/api-session.resource.ts'
import type { ReadTransaction } from '../../ports/record-storage.ts'
import { services } from '../../services/service.resource.ts'
import { servicePolicies } from '../policy.resource.ts'
import { postureChecks } from '../posture/posture-check.resource.ts'
import { endpointStates, postureData } from '../posture/posture-data.resource.ts'
import { sessions } from './session.resource.ts'

/** The entities whose change may have taken access from a session, by their ids. */
export interface AffectedSessions {
  readonly apiSessions: ReadonlySet<string>
  readonly identities: ReadonlySet<string>
  readonly services: ReadonlySet<string>
  readonly servicePolicies: ReadonlySet<string>
  readonly postureChecks: ReadonlySet<string>
}

/**
 * Finds the changes of a write that may take access from a session. Only a new or stricter rule can: an entity that is created
 * is used by no session yet, a deleted one took its sessions with it, and without a deleted check its policies ask for less.
 */
export function affectedSessionsOf(changes: readonly RecordedChange[]): AffectedSessions {
  const updated = changes.filter(({ operation }) => operation === 'update')
  const regrouped = updated.filter(({ before, after }) => rolesOf(before) !== rolesOf(after))
  const reported = changesTo(changes, postureData)
  const begun = idsOf(changesTo(changes, apiSessions).filter(({ operation }) => operation === 'insert'))
  const states = changesTo(changes, endpointStates).filter(({ id, after }) => after !== undefined && !begun.has(id))
  const checks = changesTo(changes, postureChecks).filter(({ operation }) => operation !== 'delete')
  const policies = changesTo(changes, servicePolicies).filter(({ operation }) => operation !== 'insert')
  return {
    apiSessions: idsOf(states),
    identities: idsOf([...changesTo(regrouped, identities), ...reported]),
    services: idsOf(changesTo(regrouped, services)),
    servicePolicies: idsOf(policies),
    postureChecks: idsOf(checks),
  }
}

/** The ids of the sessions that the affected concern, each once. A session knows the service policies that carry it. */
export async function affectedIds(
  context: Pick<EngineContext, 'access'>,
  tx: ReadTransaction,
  affected: AffectedSessions,
): Promise<readonly string[]> {
  const policies = new Set(affected.servicePolicies)
  // The index tells what is gained as it is brought level, whether or not there are sessions.
  const index = await context.access.at(tx)
  if (affected.postureChecks.size > 0) {
    for (const check of affected.postureChecks) {
      for (const id of index.policiesSelecting('service-policies', 'posture-checks', check)) policies.add(id)
    }
  }
  const found = new Set<string>()
  const questions = [
    { values: affected.apiSessions, operand: { kind: 'field', field: 'apiSessionId' } },
    { values: affected.identities, operand: { kind: 'field', field: 'identityId' } },
    { values: affected.services, operand: { kind: 'field', field: 'serviceId' } },
    { values: policies, operand: { kind: 'anyOf', field: 'servicePolicies' } },
  ] as const
  for (const { values, operand } of questions) {
    if (values.size === 0) continue
    for (const id of await tx.collection(sessions).findIds({ where: { kind: 'in', operand, values } })) found.add(id)
  }
  return [...found]
}

/** The sessions with some ids. */
export async function sessionsWith(
  tx: ReadTransaction,
  list: readonly string[],
): Promise<readonly RecordOf<typeof sessions>[]> {
  return (await tx.collection(sessions).find({ where: ids(list) })).items
}

function rolesOf(record: object | undefined): string {
  return JSON.stringify(record === undefined ? undefined : Reflect.get(record, 'roleAttributes'))
}

function idsOf(changes: readonly RecordedChange[]): ReadonlySet<string> {
  return new Set(changes.map(({ id }) => id))
}
