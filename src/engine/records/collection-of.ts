import type { Collection, ReadCollection, ReadTransaction, WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf, Resource } from '../../resources/declaration/resource.ts'

export function collectionOf<R extends Resource>(tx: WriteTransaction, resource: R): Collection<RecordOf<R>>
export function collectionOf<R extends Resource>(tx: ReadTransaction, resource: R): ReadCollection<RecordOf<R>>
/** The collection of a resource that is only known by a type parameter, which inference does not carry through. */
export function collectionOf(tx: ReadTransaction, resource: Resource): unknown {
  return tx.collection(resource)
}
