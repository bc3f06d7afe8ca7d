import type { AccessIndex } from '../../domain/access-index/index.ts'
import { type Filter, ids } from '../../domain/filter/index.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { AccessIndexFeed } from '../context/context.ts'

/** Ids, ascending, each of which a snapshot holds: a page of them is known without looking at the others. */
export interface PresentIds {
  readonly present: readonly string[]
}

/** Narrows a list by something that is not in the records, for example what the caller may reach. */
export type Scope = (tx: ReadTransaction) => Promise<Filter | PresentIds | undefined>

/** The scope of the ids, ascending and of one kind, that the access index answers. */
export function indexedScope(access: AccessIndexFeed, answer: (index: AccessIndex) => readonly string[]): Scope {
  return async (tx) => {
    const found = answer(await access.at(tx))
    return access.isLevelWith(tx) ? { present: found } : ids(found)
  }
}
