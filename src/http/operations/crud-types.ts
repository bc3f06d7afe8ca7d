import type { StandardOperation } from '../../resources/declaration/resource.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf, ShownOf } from '../../resources/wire/wire-forms.ts'
import type { CreatedData } from './answers.ts'
import type { Operation } from './operation.ts'

/** As much of a resource as its rows follow from. */
interface Declared {
  readonly definition: {
    readonly name: string
    readonly writable: object
    readonly operations: readonly StandardOperation[]
  }
}

type NameOf<R extends Declared> = R['definition']['name']
type ListKindOf<R extends Declared> = R['definition']['writable'] extends { readonly roleAttributes: unknown }
  ? 'roleList'
  : 'list'

/** The rows of all standard operations, as typed clients know them. */
interface StandardRows<R extends Declared> {
  readonly list: Operation<`GET /${NameOf<R>}`, undefined, undefined, ShownOf<R>, ListKindOf<R>>
  readonly get: Operation<`GET /${NameOf<R>}/{id}`, undefined, undefined, ShownOf<R>, 'data'>
  readonly create: Operation<`POST /${NameOf<R>}`, undefined, CreateBodyOf<R>, CreatedData, 'data'>
  readonly replace: Operation<`PUT /${NameOf<R>}/{id}`, undefined, ReplaceBodyOf<R>, undefined, 'done'>
  readonly patch: Operation<`PATCH /${NameOf<R>}/{id}`, undefined, PatchBodyOf<R>, undefined, 'done'>
  readonly delete: Operation<`DELETE /${NameOf<R>}/{id}`, undefined, undefined, undefined, 'done'>
}

/** Some standard operations of a resource. */
export type RowsOf<R extends Declared, Name extends StandardOperation> = Pick<StandardRows<R>, Name>

/** The standard operations that a resource declares. */
export type CrudRows<R extends Declared> = RowsOf<R, R['definition']['operations'][number]>
