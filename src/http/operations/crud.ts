import type { Permission } from '../../domain/authority.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { Resource, StandardOperation } from '../../resources/declaration/resource.ts'
import { patchSpellings } from '../../resources/requests/empty-choices.ts'
import type { CreateBodyOf, PatchBodyOf, ReplaceBodyOf } from '../../resources/wire/wire-forms.ts'
import { Created, created, DONE } from './answers.ts'
import type { CrudRows, RowsOf } from './crud-types.ts'
import { defineOperation } from './define-operation.ts'
import { deletionText } from './deletion-text.ts'
import type { Access, Operation } from './operation.ts'

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

function standardRows<R extends Resource>(resource: R): Record<StandardOperation, Operation> {
  const { name, singular, permission: entity, spellings, adminOnly = [] } = resource.definition
  const plural = name.replaceAll('-', ' ')
  const may = (action: Permission['action'], operation: StandardOperation): Access =>
    adminOnly.includes(operation) ? 'admin' : { entity, action }
  const corrections = spellings === undefined ? {} : { spellings }
  return {
    list: defineOperation(
      {
        route: `GET /${name}`,
        summary: `Lists ${plural}`,
        access: may('read', 'list'),
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
        access: may('read', 'get'),
        data: resource.detail,
      },
      async ({ engine, call, params }) => ({ data: await engine.reader.get(call, resource, params.id) }),
    ),
    create: defineOperation(
      {
        route: `POST /${name}`,
        summary: `Creates one ${singular}`,
        description:
          'What is not required may be left out, or be null, and gets its default. The answer names the entity.',
        access: may('create', 'create'),
        body: resource.create,
        data: Created,
        status: 201,
        errors: creationErrors(resource),
        ...corrections,
      },
      async ({ engine, call, body }) => {
        const { id } = await engine.of(resource).create(call, body as CreateBodyOf<R>)
        return created(resource, id)
      },
    ),
    replace: defineOperation(
      {
        route: `PUT /${name}/{id}`,
        summary: `Replaces one ${singular}`,
        description: 'What is left out gets its default; what is settled at creation may be sent and stays.',
        access: may('update', 'replace'),
        body: resource.replace,
        errors: changeErrors(resource),
        ...corrections,
      },
      async ({ engine, call, params, body }) => {
        await engine.of(resource).replace(call, params.id, body as ReplaceBodyOf<R>)
        return DONE
      },
    ),
    patch: defineOperation(
      {
        route: `PATCH /${name}/{id}`,
        summary: `Changes parts of one ${singular}`,
        description:
          'What is left out or null stays; an empty text, list or map clears. Members of objects may be sent alone.',
        access: may('update', 'patch'),
        body: resource.patch,
        errors: changeErrors(resource),
        spellings: patchSpellings(resource.definition),
      },
      async ({ engine, call, params, body }) => {
        await engine.of(resource).patch(call, params.id, body as PatchBodyOf<R>)
        return DONE
      },
    ),
    delete: defineOperation(
      {
        route: `DELETE /${name}/{id}`,
        summary: `Deletes one ${singular}`,
        get description() {
          return deletionText(resource)
        },
        access: may('delete', 'delete'),
        errors: ['ENTITY_CAN_NOT_BE_DELETED', 'CAN_NOT_DELETE_REFERENCED_ENTITY'],
      },
      async ({ engine, call, params }) => {
        await engine.of(resource).delete(call, params.id)
        return DONE
      },
    ),
  }
}

/** What refers to other entities may name one that does not exist. */
function creationErrors({ definition }: Resource): readonly ErrorCode[] {
  const { references = {}, writeErrors = [] } = definition
  return Object.keys(references).length === 0 ? writeErrors : [...writeErrors, 'NOT_FOUND']
}

/** What the controller keeps itself is not changed by anybody else. */
function changeErrors(resource: Resource): readonly ErrorCode[] {
  const isKept = 'isSystem' in resource.fields
  return isKept ? [...creationErrors(resource), 'ENTITY_CAN_NOT_BE_UPDATED'] : creationErrors(resource)
}
