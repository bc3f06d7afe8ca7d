import { type Call, isAdminCall, knownCaller } from '../context/call.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import type { EndReasons, RecordedWrite } from '../context/writes.ts'
import { completedEnrollments } from '../enrollment/enrollment.ts'
import { accessRequests } from '../facts/access/access-request.resource.ts'
import type { AuditAuthor, AuditContent, AuditType } from '../facts/audit/audit-record.resource.ts'
import { type AuditedFields, fieldChanges } from '../facts/audit/audit-trail.rules.ts'
import { GRANT_FIELDS } from '../facts/authority/authority.rules.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { NO_AUTHENTICATOR } from '../facts/credentials/login-basis.rules.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { isDirectoryRenewal, RECORDED_DIRECTORY_FIELDS } from '../facts/identities/directory.rules.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { RESOURCES, readerOfKind, traitsOf } from '../facts/resources/index.ts'
import type { Resource } from '../kernel/declaration/resource.ts'
import { isSessionUse } from '../login/api-session-ends.ts'

/** An audit record before it has its place in the order of commits. */
export interface Observation {
  readonly type: AuditType
  readonly kind: string | null
  readonly entityId: string | null
  readonly actorId: string | null
  readonly reader: string | null
  readonly content: AuditContent
  /** The party that the bytes count for; undefined for operators, whose changes are kept whatever their number. */
  readonly party: string | undefined
  /** The id of the identity that the party is. Where it has rights, observations beyond its bytes are folded and not left out. */
  readonly owner?: string | undefined
}

/** The party of all callers without a known identity. */
export const STRANGERS = 'strangers'

/** The observations of a write: each changed entity once, and the enrollments that it completed. */
export function observationsOf(
  { call, changes, reasons }: RecordedWrite,
  sha256: (text: string) => string,
): readonly Observation[] {
  const author = authorOf(call)
  const changed = wholeChanges(changes).map((change) => observationOf(change, call, author, reasons, sha256))
  if (call.undoes !== undefined) changed.unshift(...undoObservations(changed, call.undoes))
  // Most writes touch no enrollment.
  if (!changes.some(({ kind }) => kind === enrollments.name)) return changed
  const completed = completedEnrollments(changes).map(
    ({ enrollmentId, method, identityId, edgeRouterId }): Observation => ({
      type: 'enrollment.completed',
      kind: identityId === undefined ? 'edge-routers' : identities.name,
      entityId: identityId ?? edgeRouterId ?? null,
      actorId: knownCaller(call)?.identity.id ?? identityId ?? null,
      reader: 'enrollment',
      content: { ...circumstancesOf(call, author), facts: { enrollmentId, method } },
      party: undefined,
    }),
  )
  return [...changed, ...completed]
}

/** Records that a write undoes a change, where it changes the entity of that change. */
function undoObservations(
  changed: readonly Observation[],
  { kind, entityId }: NonNullable<Call['undoes']>,
): readonly Observation[] {
  const undone = changed.find((one) => one.kind === kind && one.entityId === entityId)
  if (undone === undefined) return []
  const { changes: _, ...content } = undone.content
  return [{ ...undone, type: 'change.undone', content, party: undefined }]
}

/** The maker of a call, and its proof. */
export function authorOf(call: Call): AuditAuthor {
  if (call.by === 'system')
    return call.operator === undefined ? { by: 'system' } : { by: 'operator', name: call.operator.name }
  if (call.by === 'anonymous') return { by: 'anonymous' }
  const { identity, apiSession } = call.caller
  return { by: 'caller', name: identity.name, apiSessionId: apiSession.id, ...proofOf(apiSession) }
}

/** The address and the request that a call comes from. */
export function circumstancesOf(
  { remoteAddress, requestId }: Pick<Call, 'remoteAddress' | 'requestId'>,
  author: AuditAuthor,
): Pick<AuditContent, 'author' | 'remoteAddress' | 'requestId'> {
  return {
    author,
    ...(remoteAddress !== undefined && { remoteAddress }),
    ...(requestId !== undefined && { requestId }),
  }
}

interface Proof {
  readonly method: string
  readonly authenticatorId: string
  readonly trustAnchorId: string | null
  readonly basis: { readonly certificate: { readonly fingerprint: string } | null } | null
}

function proofOf({ method, authenticatorId, trustAnchorId, basis }: Proof): Partial<AuditAuthor> {
  return {
    method,
    ...(authenticatorId !== NO_AUTHENTICATOR && { authenticatorId }),
    ...(trustAnchorId !== null && { trustAnchorId }),
    ...(basis?.certificate && { fingerprint: basis.certificate.fingerprint }),
  }
}

/** The changes that the trail records: one for each record, from its state before the write to its state after it. */
function wholeChanges(changes: readonly RecordedChange[]): readonly RecordedChange[] {
  const [first] = changes
  if (changes.length === 1 && first !== undefined) return isTold(first) ? [first] : []
  const whole = new Map<string, RecordedChange>()
  for (const change of changes) {
    const key = `${change.kind} ${change.id}`
    const known = whole.get(key)
    if (known === undefined) whole.set(key, change)
    else if (known.operation === 'insert' && change.operation === 'delete') whole.delete(key)
    else whole.set(key, joined(known, change))
  }
  return [...whole.values()].filter(isTold)
}

function joined(first: RecordedChange, last: RecordedChange): RecordedChange {
  const isInserted = last.operation === 'insert' && first.operation === 'delete'
  const operation = first.operation === 'insert' ? 'insert' : isInserted ? 'update' : last.operation
  return { ...last, operation, before: first.before }
}

function isTold(change: RecordedChange): boolean {
  if (change.kind === identities.name && isDirectoryRenewal(change)) return false
  return traitsOf(change.kind).audit !== 'none' && !isSessionUse(change)
}

const TYPES = { insert: 'entity.created', update: 'entity.updated', delete: 'entity.deleted' } as const
/** Each change of an access request is the request itself or its decision. */
const TYPES_OF_REQUESTS = { insert: 'access.requested', update: 'access.decided', delete: 'entity.deleted' } as const

function observationOf(
  change: RecordedChange,
  call: Call,
  author: AuditAuthor,
  reasons: EndReasons,
  sha256: (text: string) => string,
): Observation {
  const { operation, kind, id, before, after } = change
  const entity = after ?? before
  const types = kind === accessRequests.name ? TYPES_OF_REQUESTS : TYPES
  const name: unknown = entity === undefined ? undefined : Reflect.get(entity, 'name')
  const changes = fieldChanges(FIELDS.get(kind) ?? NOTHING_KNOWN, before, after, sha256)
  const reason = operation === 'delete' ? endReason(kind, id, call, reasons) : undefined
  const [login] = kind === apiSessions.name && operation === 'insert' ? changesTo([change], apiSessions) : []
  const begun = login?.after
  const told = begun === undefined || author.by === 'caller' ? author : { ...author, ...proofOf(begun) }
  return {
    type: begun === undefined ? types[operation] : 'login.succeeded',
    kind,
    entityId: id,
    actorId: knownCaller(call)?.identity.id ?? begun?.identityId ?? null,
    reader: readerOfKind(kind) ?? null,
    content: {
      ...circumstancesOf(call, told),
      ...(typeof name === 'string' && { entityName: name }),
      changes,
      ...(reason !== undefined && { reason }),
      ...factsOf(call),
    },
    ...partyOf(change, call, Object.keys(changes)),
  }
}

function factsOf(call: Call): Pick<AuditContent, 'facts'> {
  const command = call.by === 'system' ? call.operator?.command : undefined
  if (command === undefined && call.undoes === undefined) return {}
  return {
    facts: {
      ...(command !== undefined && { command }),
      ...(call.undoes !== undefined && { undoes: call.undoes.record }),
    },
  }
}

function endReason(kind: string, id: string, call: Call, { sessions, apiSessions: ofApi }: EndReasons) {
  if (kind === 'sessions') return typeof sessions === 'string' ? sessions : sessions?.get(id)
  if (kind === apiSessions.name) return ofApi ?? (knownCaller(call)?.apiSession.id === id ? 'logout' : undefined)
  return undefined
}

/** Fields that a caller without rights changes by trying to log in. */
export const CHANGED_BY_TRYING: readonly string[] = [
  'failedAttempts',
  'lockedAt',
  'lockedUntil',
  'disabledAt',
  'disabledUntil',
]

const NO_PARTY = { party: undefined }

/** The party that the bytes of a change count for. Each identity has a budget for each kind: using one up hides nothing of another. */
function partyOf(
  { kind, id, before, after }: RecordedChange,
  call: Call,
  fields: readonly string[],
): Pick<Observation, 'party' | 'owner'> {
  const caller = knownCaller(call)?.identity
  const isOperators = isAdminCall(call) || (caller !== undefined && caller.permissions.length > 0)
  if (caller !== undefined) return { party: isOperators ? undefined : `${kind} ${caller.id}` }
  if (call.by === 'system' && call.operator !== undefined) return NO_PARTY
  if (traitsOf(kind).audit === 'endpoints') {
    const owner: unknown = Reflect.get(after ?? before ?? {}, 'identityId')
    return typeof owner === 'string' ? { party: `${kind} ${owner}`, owner } : { party: `${kind} ` }
  }
  if (before === undefined || after === undefined) return NO_PARTY
  const tried = kind === authenticators.name || kind === identities.name
  if (tried && fields.length > 0 && fields.every((field) => CHANGED_BY_TRYING.includes(field))) {
    return { party: STRANGERS }
  }
  return fields.every((field) => FIELDS.get(kind)?.reported.has(field)) ? { party: `${kind} ${id}` } : NO_PARTY
}

interface KnownFields extends AuditedFields {
  /** Fields that no request sets: the controller writes them, from the reports of endpoints and routers. */
  readonly reported: ReadonlySet<string>
}

const NOT_REPORTED: ReadonlySet<string> = new Set([...RECORDED_DIRECTORY_FIELDS, ...GRANT_FIELDS])
const NOTHING_KNOWN: AuditedFields = { defaults: {}, secrets: new Set() }
const FIELDS: ReadonlyMap<string, KnownFields> = new Map(
  RESOURCES.map((resource) => [
    resource.name,
    {
      defaults: resource.defaults,
      secrets: new Set([...(resource.definition.secrets ?? []), ...hiddenTexts(resource)]),
      // No endpoint causes what a directory of the host and grants give and take.
      reported: new Set(Object.keys(resource.definition.system ?? {}).filter((field) => !NOT_REPORTED.has(field))),
    },
  ]),
)

/** The facts of a kind by which its changes are recorded. */
export function auditedFields(kind: string): KnownFields {
  return FIELDS.get(kind) ?? { ...NOTHING_KNOWN, reported: new Set() }
}

/** A hidden text may be a secret, and hidden lists and objects may hold one. */
function hiddenTexts({ definition, fields }: Resource): readonly string[] {
  const kinds = ['string', 'set', 'json']
  const { hidden = [], plain = [] } = definition
  return hidden.filter((field) => kinds.includes(fields[field] ?? '') && !plain.includes(field))
}
