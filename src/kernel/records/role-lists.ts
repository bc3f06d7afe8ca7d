import { invalidField } from '../../base/errors.ts'
import type { ReadTransaction, WriteTransaction } from '../../ports/record-storage.ts'
import { RESOURCES, resourceNamed } from '../../resources/index.ts'
import type { RecordOf, Resource } from '../declaration/resource.ts'
import { missingOf } from './references.ts'
import { changeEach, MORE, type WriteBatch } from './write-batches.ts'

/**
 * Refuses role lists and role attributes that mean nothing: an entry without `#` or `@`, `#all` beside others, an `@id`
 * that names no entity, an attribute that begins with a selector's mark. Only lists that differ from `before` are judged.
 */
export async function checkRoleLists(
  tx: ReadTransaction,
  resource: Resource,
  record: RecordOf<Resource>,
  before: RecordOf<Resource> | undefined,
): Promise<void> {
  checkRoleAttributes(resource, record.roleAttributes)
  for (const [field, target] of Object.entries(resource.definition.selects ?? {})) {
    if (record[field] === before?.[field]) continue
    await checkRoleList(tx, field, roleList(record[field]), resourceNamed(target))
  }
}

async function checkRoleList(
  tx: ReadTransaction,
  field: string,
  roles: readonly string[],
  target: Resource,
): Promise<void> {
  const unmarked = roles.filter((role) => !role.startsWith('#') && !role.startsWith('@'))
  if (unmarked.length > 0) {
    const reason = 'role entries must prefixed with # (to indicate role attributes) or @ (to indicate a name or id)'
    throw invalidField(field, reason, unmarked)
  }
  if (roles.includes('#all') && roles.length > 1) {
    throw invalidField(field, 'if using #all, it should be the only role specified', roles)
  }
  const wanted = roles.filter((role) => role.startsWith('@')).map((role) => role.slice(1))
  const missing = await missingOf(tx, target, wanted)
  if (missing.length > 0) {
    throw invalidField(field, `no ${target.definition.storeName} found with the given ids`, missing)
  }
}

function checkRoleAttributes(resource: Resource, attributes: unknown): void {
  if (resource.name === 'posture-checks') return
  for (const mark of ['#', '@']) {
    if (roleList(attributes).some((attribute) => attribute.startsWith(mark))) {
      throw invalidField('roleAttributes', `role attributes may not be prefixed with ${mark}`, attributes)
    }
  }
}

/** Takes `@id` of a deleted entity out of every role list, as far as a batch goes. The policies' `updatedAt` stays: nobody edited them. */
export async function forgetInRoleLists(
  tx: WriteTransaction,
  target: string,
  id: string,
  batch: WriteBatch,
): Promise<typeof MORE | undefined> {
  const entry = `@${id}`
  for (const resource of RESOURCES) {
    const fields = Object.entries(resource.definition.selects ?? {}).flatMap(([field, kind]) =>
      kind === target ? [field] : [],
    )
    for (const field of fields) {
      const where = {
        kind: 'compare',
        operand: { kind: 'anyOf', field },
        operator: '=',
        value: entry,
      } as const
      const isDone = await changeEach(tx, resource, where, batch, (policy) => ({
        ...policy,
        [field]: roleList(policy[field]).filter((role) => role !== entry),
      }))
      if (!isDone) return MORE
    }
  }
  return undefined
}

function roleList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
