import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { type CONNECTION_OPTIONS, type Connection, withConnection } from '../../connection/connect.ts'
import { type Body, readBody } from './entity-fields.ts'
import { deleteEntityById, findEntity, patchEntityById, postEntity } from './entity-requests.ts'

type ConnectionOption = keyof typeof CONNECTION_OPTIONS
type WriteCall = CommandCall<ConnectionOption | 'body'>

/** Whom the `@name` of a role list names. */
const ROLE_LISTS: Readonly<Record<string, string>> = {
  identityRoles: 'identities',
  serviceRoles: 'services',
  edgeRouterRoles: 'edge-routers',
  postureCheckRoles: 'posture-checks',
}

/** Makes an entity of what the options say. Throws {@link UsageError}. */
export async function createEntity(collection: string, call: WriteCall): Promise<Answer> {
  const body = await readBody(collection, 'create', call.options)
  const id = await withConnection(call, async (connection) =>
    postEntity(connection, collection, await withIds(connection, body)),
  )
  return { text: id, value: { id } }
}

/** Changes an entity as the options say. Throws {@link UsageError}. */
export async function patchEntity(collection: string, call: WriteCall): Promise<Answer> {
  const [idOrName, ...more] = call.operands
  if (idOrName === undefined || more.length > 0) throw new UsageError(`${collection} patch takes one NAME or ID`)
  const body = await readBody(collection, 'patch', call.options)
  const id = await withConnection(call, async (connection) => {
    const entity = await findEntity(connection, collection, idOrName)
    await patchEntityById(connection, collection, entity.id, await withIds(connection, body))
    return entity.id
  })
  return { text: `changed ${idOrName}`, value: { id } }
}

/** Deletes entities, none of them where one is not there. Throws {@link UsageError}. */
export async function deleteEntities(collection: string, call: CommandCall<ConnectionOption>): Promise<Answer> {
  const { operands } = call
  if (operands.length === 0) throw new UsageError(`${collection} delete takes NAME or ID, one or several`)
  const ids = await withConnection(call, async (connection) => {
    const found = []
    for (const idOrName of operands) found.push((await findEntity(connection, collection, idOrName)).id)
    for (const id of found) await deleteEntityById(connection, collection, id)
    return found
  })
  return { text: operands.map((idOrName) => `deleted ${idOrName}`).join('\n'), value: { ids } }
}

/** The body with ids in the place of names in role lists: people say `@laptop`, the API knows `@id`. */
async function withIds(connection: Connection, body: Body): Promise<Body> {
  const named: Record<string, unknown> = { ...body }
  for (const [field, collection] of Object.entries(ROLE_LISTS)) {
    const roles = named[field]
    if (!Array.isArray(roles)) continue
    named[field] = await Promise.all(
      roles.map(async (role: unknown) => {
        if (typeof role !== 'string' || role.startsWith('#')) return role
        if (!role.startsWith('@')) {
          throw new UsageError(`${field}: '${role}' must begin with # (a role attribute) or @ (a name or id)`)
        }
        return `@${(await findEntity(connection, collection, role.slice(1))).id}`
      }),
    )
  }
  return named
}
