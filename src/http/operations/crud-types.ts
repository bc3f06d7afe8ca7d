import type { z } from 'zod'
import type { SymbolTable } from '../../domain/filter/index.ts'
import type { Resource, StandardOperation } from '../../resources/resource.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf, ShownOf } from '../../resources/wire-forms.ts'
import type { Created } from './answers.ts'
import type { Operation, OperationShape } from './operation.ts'

type NameOf<R extends Resource> = R['definition']['name']

export interface ListShape<R extends Resource> extends OperationShape {
  readonly route: `GET /${NameOf<R>}`
  readonly data: z.ZodType<unknown, ShownOf<R>>
  readonly symbols: SymbolTable
}

export interface GetShape<R extends Resource> extends OperationShape {
  readonly route: `GET /${NameOf<R>}/{id}`
  readonly data: z.ZodType<unknown, ShownOf<R>>
}

export interface CreateShape<R extends Resource> extends OperationShape {
  readonly route: `POST /${NameOf<R>}`
  readonly body: z.ZodType<unknown, CreateBodyOf<R>>
  readonly data: typeof Created
}

export interface ReplaceShape<R extends Resource> extends OperationShape {
  readonly route: `PUT /${NameOf<R>}/{id}`
  readonly body: z.ZodType<unknown, ReplaceBodyOf<R>>
}

export interface PatchShape<R extends Resource> extends OperationShape {
  readonly route: `PATCH /${NameOf<R>}/{id}`
  readonly body: z.ZodType<unknown, PatchBodyOf<R>>
}

export interface DeleteShape<R extends Resource> extends OperationShape {
  readonly route: `DELETE /${NameOf<R>}/{id}`
}

export interface StandardShapes<R extends Resource> {
  readonly list: ListShape<R>
  readonly get: GetShape<R>
  readonly create: CreateShape<R>
  readonly replace: ReplaceShape<R>
  readonly patch: PatchShape<R>
  readonly delete: DeleteShape<R>
}

/** The standard operations that a resource declares. */
export type CrudOperations<R extends Resource> = readonly {
  readonly [K in R['definition']['operations'][number] & StandardOperation]: Operation<StandardShapes<R>[K]>
}[R['definition']['operations'][number] & StandardOperation][]
