import type { Resource, StandardOperation } from '../../resources/resource.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf, ShownOf } from '../../resources/wire-forms.ts'
import type { CreatedData } from './answers.ts'
import type { Operation } from './operation.ts'
import type { Answered, Done, Listed, ListParameters, RoleListParameters } from './signature.ts'

type NameOf<R extends Resource> = R['definition']['name']
type ListQueryOf<R extends Resource> = R['definition']['writable'] extends { readonly roleAttributes: unknown }
  ? RoleListParameters
  : ListParameters

/** The rows of all standard operations, as typed clients know them. */
interface StandardRows<R extends Resource> {
  readonly list: Operation<`GET /${NameOf<R>}`, ListQueryOf<R>, undefined, Listed<ShownOf<R>>>
  readonly get: Operation<`GET /${NameOf<R>}/{id}`, undefined, undefined, Answered<ShownOf<R>>>
  readonly create: Operation<`POST /${NameOf<R>}`, undefined, CreateBodyOf<R>, Answered<CreatedData>>
  readonly replace: Operation<`PUT /${NameOf<R>}/{id}`, undefined, ReplaceBodyOf<R>, Done>
  readonly patch: Operation<`PATCH /${NameOf<R>}/{id}`, undefined, PatchBodyOf<R>, Done>
  readonly delete: Operation<`DELETE /${NameOf<R>}/{id}`, undefined, undefined, Done>
}

/** Some standard operations of a resource. */
export type RowsOf<R extends Resource, Name extends StandardOperation> = Pick<StandardRows<R>, Name>

/** The standard operations that a resource declares. */
export type CrudRows<R extends Resource> = RowsOf<R, R['definition']['operations'][number]>
