import { invalidField } from '../../domain/errors.ts'
import { type ReadTransaction, UniqueViolation } from '../../ports/storage.ts'
import type { Resource } from '../../resources/declaration/resource.ts'
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

/** Refuses a name that an entity of another resource has, where two resources share their names. */
export async function refuseTakenName(tx: ReadTransaction, other: Resource, name: string): Promise<void> {
  if ((await findOne(tx, other, 'name', name)) !== undefined) throw invalidField('name', 'name must be unique', name)
}
