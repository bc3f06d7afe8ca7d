import type { ReadTransaction } from '../../../ports/storage.ts'
import type { ComputedSymbol } from '../../../resources/declaration/computed-symbol.ts'
import type { RecordOf, Resource } from '../../../resources/declaration/resource.ts'
import type { EngineContext } from '../../context/context.ts'

/** What computed symbols are worked out from: one resource in one snapshot. */
export interface SymbolScope {
  readonly context: EngineContext
  readonly tx: ReadTransaction
  readonly resource: Resource
  /** Every record of the resource, read once however many symbols ask. */
  records(): Promise<readonly RecordOf<Resource>[]>
}

export function symbolScope(context: EngineContext, tx: ReadTransaction, resource: Resource): SymbolScope {
  let all: Promise<readonly RecordOf<Resource>[]> | undefined
  return {
    context,
    tx,
    resource,
    records() {
      all ??= tx
        .collection(resource)
        .find()
        .then(({ items }) => items)
      return all
    },
  }
}

/** The computed symbol of a name; undefined for a stored field. */
export function computedSymbol({ computed }: Resource, name: string): ComputedSymbol | undefined {
  return Object.hasOwn(computed, name) ? computed[name] : undefined
}
