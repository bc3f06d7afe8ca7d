import type { AccessType } from '../../../domain/access-index/index.ts'
import { invalidField } from '../../../domain/errors.ts'
import { compareStrings } from '../../../domain/filter/index.ts'

/** A pair with what happens to it. Its members, in this order, are the order of all pairs. */
export interface PairKey {
  readonly serviceId: string
  readonly type: AccessType
  readonly change: 'gained' | 'lost'
  readonly identityId: string
}

/** The text that stands for the place right after a pair. */
export function cursorOf({ serviceId, type, change, identityId }: PairKey): string {
  return JSON.stringify([serviceId, type, change, identityId])
}

/** Reads a cursor. Error: `COULD_NOT_VALIDATE` for text that is none. */
export function readCursor(text: string): PairKey {
  const [serviceId, type, change, identityId] = membersOf(text)
  const isType = type === 'Dial' || type === 'Bind'
  const isChange = change === 'gained' || change === 'lost'
  if (typeof serviceId === 'string' && isType && isChange && typeof identityId === 'string') {
    return { serviceId, type, change, identityId }
  }
  throw invalidField('cursor', 'is not a nextCursor of a simulation', text)
}

/** The members of the JSON list that a cursor is; none of other text. */
export function membersOf(text: string): readonly unknown[] {
  try {
    const members: unknown = JSON.parse(text)
    return Array.isArray(members) ? members : []
  } catch {
    return []
  }
}

/** True when a pair comes later than another. */
export function isAfter(key: PairKey, other: PairKey): boolean {
  const order =
    compareStrings(key.serviceId, other.serviceId) ||
    compareStrings(key.type, other.type) ||
    compareStrings(key.change, other.change) ||
    compareStrings(key.identityId, other.identityId)
  return order > 0
}
