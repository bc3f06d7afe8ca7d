import { invalidField } from '../../domain/errors.ts'
import { type ReadTransaction, UniqueViolation } from '../../ports/storage.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'
import { findOne } from './find-one.ts'

/** Runs a write of a resource's entities and answers a value that is taken as the error of its field. */
export async function refusingDuplicates<T>(resource: Resource, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    const { storeName } = resource.definition
    const reason =
      error.field === 'name'
        ? 'name must be unique'
        : `duplicate value '${error.value}' in unique index on ${storeName} store`
    throw invalidField(error.field, reason, error.value)
  }
}

/** Refuses a change that would give an entity what another one has, before the change is made. Error: {@link UniqueViolation}. */
export async function refuseDuplicates<R extends Resource>(
  tx: ReadTransaction,
  resource: R,
  record: RecordOf<R>,
  before: RecordOf<R>,
): Promise<void> {
  for (const field of resource.unique) {
    const value: unknown = record[field]
    if (typeof value !== 'string' || value === before[field]) continue
    if ((await findOne(tx, resource, field, value)) !== undefined)
      throw new UniqueViolation(resource.name, field, value)
  }
}

/** Refuses a name that an entity of another resource has, where two resources share their names. */
export async function refuseTakenName(tx: ReadTransaction, other: Resource, name: string): Promise<void> {
  if ((await findOne(tx, other, 'name', name)) !== undefined) throw invalidField('name', 'name must be unique', name)
}
