import type { CreateOf, PatchOf, ReplaceOf, Resource, StandardOperation } from '../resources/resource.ts'
import { Created, created, DONE } from './answers.ts'
import type { CrudOperations } from './crud-types.ts'
import { changesInStoredNames, inStoredNames } from './input-names.ts'
import { type Access, defineOperation, type Operation, type Permission } from './operation.ts'

/**
 * The standard operations of a resource, as its declaration says: list, get, create, replace, patch and delete, open to
 * admins and to holders of the resource's delegated permissions.
 */
export function crud<R extends Resource>(resource: R): CrudOperations<R> {
  const rows = standardRows(resource)
  // The rows below say at run time what CrudOperations says in types.
  return resource.definition.operations.map((name) => rows[name]) as unknown as CrudOperations<R>
}

/** Some standard operations of a resource for admins only, where another API offers them too (ruling R11). */
export function crudForAdmins<R extends Resource>(
  resource: R,
  names: readonly StandardOperation[],
): readonly Operation[] {
  const rows = standardRows(resource)
  return names.map((name) => ({ ...rows[name], shape: { ...rows[name].shape, access: 'admin' } }))
}

function standardRows<R extends Resource>(resource: R): Record<StandardOperation, Operation> {
  const { name, singular, permission: entity, spellings, adminOnly = [] } = resource.definition
  const plural = name.replaceAll('-', ' ')
  const may = (action: Permission['action'], operation: StandardOperation): Access =>
    adminOnly.includes(operation) ? 'admin' : { entity, action }
  const corrections = spellings === undefined ? {} : { spellings }
  // Bodies were validated against the resource's own schemas, which is what these types say.
  const asCreate = (body: Readonly<Record<string, unknown>>) => inStoredNames(resource, body) as CreateOf<R>
  const asReplace = (body: Readonly<Record<string, unknown>>) => changesInStoredNames(resource, body) as ReplaceOf<R>
  const asPatch = (body: Readonly<Record<string, unknown>>) => changesInStoredNames(resource, body) as PatchOf<R>
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
        access: may('create', 'create'),
        body: resource.create,
        data: Created,
        status: 201,
        ...corrections,
      },
      async ({ engine, call, body }) => {
        const { id } = await engine.of(resource).create(call, asCreate(body))
        return created(resource, id)
      },
    ),
    replace: defineOperation(
      {
        route: `PUT /${name}/{id}`,
        summary: `Replaces one ${singular}`,
        access: may('update', 'replace'),
        body: resource.replace,
        ...corrections,
      },
      async ({ engine, call, params, body }) => {
        await engine.of(resource).replace(call, params.id, asReplace(body))
        return DONE
      },
    ),
    patch: defineOperation(
      {
        route: `PATCH /${name}/{id}`,
        summary: `Changes parts of one ${singular}`,
        access: may('update', 'patch'),
        body: resource.patch,
        ...corrections,
      },
      async ({ engine, call, params, body }) => {
        await engine.of(resource).patch(call, params.id, asPatch(body))
        return DONE
      },
    ),
    delete: defineOperation(
      {
        route: `DELETE /${name}/{id}`,
        summary: `Deletes one ${singular}`,
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
