import type { ErrorCode } from '../../base/errors.ts'
import type { Permission } from '../../facts/authority/authority.rules.ts'
import { RESOURCES } from '../../facts/resources/index.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf, ShownOf } from '../../facts/resources/wire-forms.ts'
import { patchSpellings } from '../../kernel/declaration/read-body.ts'
import type { Resource, StandardOperation } from '../../kernel/declaration/resource.ts'
import { defineOperation } from './define-operation.ts'
import { type Access, Created, type CreatedData, created, done, type Operation } from './operation.ts'

/**
 * The standard operations of a resource, as its declaration says: list, get, create, replace, patch and delete, open to
 * admins and to holders of the resource's delegated permissions.
 */
export function crud<R extends Resource>(resource: R): CrudRows<R> {
  const rows = standardRows(resource)
  // The rows below say at run time what CrudRows says in types.
  return Object.fromEntries(resource.definition.operations.map((name) => [name, rows[name]])) as unknown as CrudRows<R>
}

/** Some standard operations of a resource for admins only, where another API offers them too. */
export function crudForAdmins<R extends Resource, const Name extends StandardOperation>(
  resource: R,
  names: readonly Name[],
): RowsOf<R, Name> {
  const rows = standardRows(resource)
  const forAdmins = names.map((name) => [name, { ...rows[name], shape: { ...rows[name].shape, access: 'admin' } }])
  // As above.
  return Object.fromEntries(forAdmins) as unknown as RowsOf<R, Name>
}

/** The access to a standard operation of a resource: delegated permissions open an action. */
export function accessTo(
  { definition: { permission: entity, adminOnly = [] } }: Resource,
  action: Permission['action'],
  operation: StandardOperation,
): Access {
  return adminOnly.includes(operation) ? 'admin' : { entity, action }
}

function standardRows<R extends Resource>(resource: R): Record<StandardOperation, Operation> {
  return { ...readRows(resource), create: createRow(resource), ...changeRows(resource) }
}

function readRows(resource: Resource) {
  const { name, singular } = resource.definition
  return {
    list: defineOperation(
      {
        route: `GET /${name}`,
        summary: `Lists ${inWords(resource)}`,
        access: accessTo(resource, 'read', 'list'),
        data: resource.detail,
        symbols: resource.symbols,
        byRole: 'roleAttributes' in resource.fields,
      },
      async ({ engine, call, find }) => ({ page: await engine.reader.list(call, resource, find) }),
    ),
    get: defineOperation(
      {
        route: `GET /${name}/{id}`,
        summary: `Shows one ${singular}`,
        access: accessTo(resource, 'read', 'get'),
        data: resource.detail,
      },
      async ({ engine, call, params }) => ({ data: await engine.reader.get(call, resource, params.id) }),
    ),
  }
}

function createRow<R extends Resource>(resource: R) {
  const { name, singular } = resource.definition
  return defineOperation(
    {
      route: `POST /${name}`,
      summary: `Creates one ${singular}`,
      description:
        'A member that is not required may be left out, or be null, and gets its default. The answer names the entity.',
      access: accessTo(resource, 'create', 'create'),
      body: resource.create,
      data: Created,
      status: 201,
      errors: creationErrors(resource),
      ...correctionsOf(resource),
    },
    async ({ engine, call, body }) => {
      const { id } = await engine.of(resource).create(call, body as CreateBodyOf<R>)
      return created(resource, id)
    },
  )
}

function changeRows<R extends Resource>(resource: R) {
  const { name, singular } = resource.definition
  return {
    replace: defineOperation(
      {
        route: `PUT /${name}/{id}`,
        summary: `Replaces one ${singular}`,
        description:
          'A member that is left out gets its default; a member that is settled at creation may be sent and stays.',
        access: accessTo(resource, 'update', 'replace'),
        body: resource.replace,
        errors: changeErrors(resource),
        ...correctionsOf(resource),
      },
      async ({ engine, call, params, body }) =>
        done(engine.of(resource).replace(call, params.id, body as ReplaceBodyOf<R>)),
    ),
    patch: defineOperation(
      {
        route: `PATCH /${name}/{id}`,
        summary: `Changes parts of one ${singular}`,
        description:
          'A member that is left out or null stays; an empty text, list or map clears. Members of objects may be sent alone.',
        access: accessTo(resource, 'update', 'patch'),
        body: resource.patch,
        errors: changeErrors(resource),
        spellings: patchSpellings(resource.definition),
      },
      async ({ engine, call, params, body }) =>
        done(engine.of(resource).patch(call, params.id, body as PatchBodyOf<R>)),
    ),
    delete: defineOperation(
      {
        route: `DELETE /${name}/{id}`,
        summary: `Deletes one ${singular}`,
        get description() {
          return deletionText(resource)
        },
        access: accessTo(resource, 'delete', 'delete'),
        errors: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
      },
      async ({ engine, call, params }) => done(engine.of(resource).delete(call, params.id)),
    ),
  }
}

function correctionsOf({ definition: { quirks: { spellings } = {} } }: Resource) {
  return spellings === undefined ? {} : { spellings }
}

/** Lists the errors of creating: a reference may name an entity that does not exist. */
function creationErrors({ definition }: Resource): readonly ErrorCode[] {
  const { references = {}, writeErrors = [] } = definition
  return Object.keys(references).length === 0 ? writeErrors : [...writeErrors, 'NOT_FOUND']
}

/** Lists the errors of changing: only the controller changes the entities that it keeps itself. */
function changeErrors(resource: Resource): readonly ErrorCode[] {
  const isKept = 'isSystem' in resource.fields
  return isKept ? [...creationErrors(resource), 'ENTITY_CAN_NOT_BE_UPDATED'] : creationErrors(resource)
}

/** The parts of a resource that its rows follow from. */
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

/** Describes the effect of a deletion on entities that refer to the deleted one, as their declarations have it. */
function deletionText({ name }: Resource): string {
  const isOperated = ({ definition }: Resource) => definition.operations.length > 0
  const cascade = referring(name, 'cascade').filter(isOperated).map(inWords)
  const clear = referring(name, 'clear').map(inWords)
  const restrict = referring(name, 'restrict').map(inWords)
  return [
    'It is gone for good, from role lists that name it too.',
    ...(cascade.length === 0 ? [] : [`With it go its ${listed(cascade)}, and all else that belongs to it.`]),
    ...(clear.length === 0 ? [] : [`It is taken out of ${listed(clear)}.`]),
    ...(restrict.length === 0 ? [] : [`Answers 409 while ${listed(restrict)} refer to it.`]),
  ].join(' ')
}

/** The resources that refer to the named one and have this rule for its deletion. */
function referring(name: string, onDelete: 'restrict' | 'cascade' | 'clear'): readonly Resource[] {
  return RESOURCES.filter(({ definition }) =>
    Object.values(definition.references ?? {}).some(
      (reference) => reference.onDelete === onDelete && (reference.to === name || reference.orTo === name),
    ),
  )
}

function inWords({ name }: Resource): string {
  return name.replaceAll('-', ' ')
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
