import { ControllerError } from '../../../domain/errors.ts'
import { type Filter, fieldOf, leavesOf, whereOf } from '../../../domain/filter/index.ts'
import type { Resource } from '../../../resources/declaration/resource.ts'
import { type Call, isAdminCall } from '../../context/call.ts'
import { mayRead } from '../../context/readable.ts'
import { linkOf } from './links.ts'
import { computedSymbol } from './symbol-scope.ts'

/** What a reference shows of the entity that it points to, to everybody who sees the reference. */
const SHOWN_BY_REFERENCE: readonly string[] = ['id', 'name']

/**
 * Refuses a filter that asks about entities which the caller may not read: whether a list is empty would tell about them.
 * What the records of the list show themselves may be asked for: the ids in a field, and the name beside a reference. Error:
 * `INVALID_FILTER`.
 */
export function refuseUnreadable(call: Call, resource: Resource, filter: Filter | undefined): void {
  if (filter === undefined || isAdminCall(call)) return
  for (const leaf of leavesOf(filter)) {
    const target = linkOf(resource, fieldOf(leaf))
    if (target === undefined) continue
    const where = whereOf(leaf)
    if (!isShown(resource, fieldOf(leaf), where) && !mayList(call, target)) throw unreadable(target)
    refuseUnreadable(call, target, where)
  }
}

/** Reports whether the records of a resource tell by themselves what a filter asks of the entities in one of their fields. */
function isShown(resource: Resource, field: string, where: Filter | undefined): boolean {
  if (computedSymbol(resource, field) !== undefined) return false
  const isReferenceShown = resource.definition.references?.[field]?.show !== undefined
  const shown = isReferenceShown ? SHOWN_BY_REFERENCE : ['id']
  return where === undefined || leavesOf(where).every((leaf) => shown.includes(fieldOf(leaf)))
}

function mayList(call: Call, { definition }: Resource): boolean {
  return !definition.adminOnly?.includes('list') && mayRead(call, definition.permission)
}

function unreadable({ definition }: Resource): ControllerError {
  const message = `a filter may ask about ${definition.name} only for who may read them`
  return new ControllerError('INVALID_FILTER', { code: 'UNHANDLED', message })
}
