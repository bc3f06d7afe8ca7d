import { invalidField } from '../base/errors.ts'
import { counted, quoted } from '../base/text.ts'
import { DAY_MS } from '../base/time.ts'
import type { EngineContext } from '../context/context.ts'
import { examineHolders, type Judging } from './certificate-holders.ts'
import { holderNames } from './pki-status.ts'

/** Milliseconds within which a device in use renews its certificate: an earlier end locks the others out. */
const TIME_TO_RENEW_MS = DAY_MS
/** Names that a refusal lists. */
const MOST_NAMES = 10

/** A requested change of the authorities, and how the caller confirms it. */
interface PlannedChange {
  /** The member of the request that ends an authority. */
  readonly field: string
  readonly given: unknown
  readonly before: Judging
  readonly after: Judging
  readonly now: number
}

/**
 * Refuses a change that would lock identities or routers out within a day, because they have no certificate of another
 * authority. Error: `COULD_NOT_VALIDATE`, with their number and the first names.
 */
export async function requireNobodyLockedOut(
  { storage, turns }: EngineContext,
  { field, given, before, after, now }: PlannedChange,
): Promise<void> {
  const soon = now + TIME_TO_RENEW_MS
  const reason = await storage.read(async (tx) => {
    const known = await examineHolders(tx, before, soon, turns)
    const changed = await examineHolders(tx, after, soon, turns)
    const endedBefore = new Map([
      ...[...known.identities].map(([id, { endsAt }]) => [id, endsAt] as const),
      ...known.routers.map(({ id, endsAt }) => [id, endsAt] as const),
    ])
    const isLost = (id: string, endsAt: number) => endsAt <= soon && endsAt < (endedBefore.get(id) ?? Infinity)
    const routers = changed.routers.filter(({ id, endsAt }) => isLost(id, endsAt))
    const identities = [...changed.identities].flatMap(([id, { endsAt }]) => (isLost(id, endsAt) ? [id] : []))
    const count = routers.length + identities.length
    if (count === 0) return undefined
    const names = await holderNames(tx, { routers, identities }, MOST_NAMES)
    return `${whoOf(identities.length, routers.length)} would be locked out: ${namesOf(names, count)}`
  })
  if (reason === undefined) return
  const help = 'they have no other certificate; let them renew or enroll anew first, or say locksOut'
  throw invalidField(field, `${reason}; ${help}`, given)
}

/**
 * Refuses to let an authority sign that some holder does not know yet, and that no known authority vouches for. Error:
 * `COULD_NOT_VALIDATE`.
 */
export async function requireAuthorityKnown({ storage, turns }: EngineContext, judging: Judging): Promise<void> {
  const reason = await storage.read(async (tx) => {
    const holders = await examineHolders(tx, judging, 0, turns)
    const routers = holders.routers.filter(({ isOutstanding }) => isOutstanding)
    const identities = [...holders.identities].flatMap(([id, { isOutstanding }]) => (isOutstanding ? [id] : []))
    const count = routers.length + identities.length
    if (count === 0) return undefined
    const names = await holderNames(tx, { routers, identities }, MOST_NAMES)
    return `${whoOf(identities.length, routers.length)} may not know its root yet, and would trust no server: ${namesOf(names, count)}`
  })
  if (reason === undefined) return
  throw invalidField('issues', `${reason}; bring them the trust bundle first, or say locksOut`, true)
}

/** `3 identities and 2 routers`; a number of 0 is left out. */
function whoOf(identities: number, routers: number): string {
  const parts = [
    ...(identities > 0 ? [identities === 1 ? '1 identity' : `${identities} identities`] : []),
    ...(routers > 0 ? [counted(routers, 'router')] : []),
  ]
  return parts.join(' and ')
}

function namesOf(names: readonly string[], count: number): string {
  const rest = count - names.length
  return `${names.map(quoted).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
