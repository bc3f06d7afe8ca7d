import { countedName } from '../parts/words.ts'
import type { AuditEntry } from './consequences.tsx'

/** The records of one request, or a run of bookkeeping. */
export interface ChangeGroup {
  /** All records, the latest first. */
  readonly entries: readonly AuditEntry[]
  /** The records that the request was about. */
  readonly main: readonly AuditEntry[]
  /** The records that came with them. */
  readonly beside: readonly AuditEntry[]
  /** Whether the controller or its host wrote all of them: nobody asked for them by a request. */
  readonly isFolded: boolean
  /** Whether they are of kinds that the controller writes as identities use the network. */
  readonly isBookkeeping: boolean
}

/** Kinds whose entities the controller writes and deletes by itself, as identities use the network. */
export const BOOKKEEPING = ['api-sessions', 'sessions', 'terminators', 'posture-data', 'revocations']
/** Kinds whose records come and go with identities, services and logins. */
const BESIDE = new Set([...BOOKKEEPING, 'enrollments', 'authenticators'])
/** Kinds whose records nobody makes on purpose. */
const KEPT = new Set([...BOOKKEEPING, 'controllers'])

/** Groups records by the request that wrote them; bookkeeping that follows each other is one group. */
export function groupsOf(entries: readonly AuditEntry[]): readonly ChangeGroup[] {
  const groups: { key: string; entries: AuditEntry[] }[] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    const key = requestOf(entry)
    if (last?.key === key) last.entries.push(entry)
    else groups.push({ key, entries: [entry] })
  }
  const joined: AuditEntry[][] = []
  for (const group of groups) {
    const last = joined.at(-1)
    if (last !== undefined && isFolded(last) && isFolded(group.entries)) last.push(...group.entries)
    else joined.push(group.entries)
  }
  return joined.map((of) => {
    const isOnlyBeside = of.every(isBeside)
    return {
      entries: of,
      main: isOnlyBeside ? of : of.filter((entry) => !isBeside(entry)),
      beside: isOnlyBeside ? [] : of.filter(isBeside),
      isFolded: isFolded(of),
      isBookkeeping: of.every(isKept),
    }
  })
}

/** Readers who are no administrators get no id of the request: records of one instant and actor are of one request then. */
function requestOf({ requestId, at, actor }: AuditEntry): string {
  return requestId ?? `${at} ${actor?.id}`
}

/** Reports whether a record is of a kind that comes and goes with others. */
export function isBeside({ entity }: AuditEntry): boolean {
  return entity !== null && BESIDE.has(entity.kind)
}

function isFolded(entries: readonly AuditEntry[]): boolean {
  return entries.every((entry) => entry.author?.by === 'system' || isKept(entry))
}

function isKept({ entity }: AuditEntry): boolean {
  return entity !== null && KEPT.has(entity.kind)
}

/** Records by their action and their kind. */
export function deedsOf(entries: readonly AuditEntry[]): readonly (readonly AuditEntry[])[] {
  return [...Map.groupBy(entries, ({ type, entity }) => `${type} ${entity?.kind}`).values()]
}

/** Counts records by kind: `2 enrollments, 1 authenticator`. */
export function countsText(entries: readonly AuditEntry[]): string {
  const kinds = [...Map.groupBy(entries, ({ entity }) => entity?.kind ?? '').entries()]
  return kinds.map(([kind, of]) => countedName(kind, of.length)).join(', ')
}
