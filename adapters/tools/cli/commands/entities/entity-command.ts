import { type Answer, type Command, type CommandCall, defineCommand } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'
import { CONNECTION_OPTIONS, type Connection, withConnection } from '../../connection/connect.ts'
import { type Body, fieldOptions, readBody } from './entity-fields.ts'
import { deleteEntityById, findEntity, patchEntityById, postEntity } from './entity-pages.ts'
import { getEntity, listEntities } from './read-entities.ts'

/** The actions on the entities of a collection. */
export type EntityVerb = 'list' | 'get' | 'create' | 'patch' | 'delete'

const LIST_OPTIONS = {
  filter: { value: 'CONDITION', summary: 'such as \'name contains "web"\' or \'anyOf(roleAttributes) = "staff"\'' },
  sort: { value: 'FIELDS', summary: "such as 'name desc'" },
  limit: { value: 'COUNT', summary: 'how many at most; default: all' },
  offset: { value: 'COUNT', summary: 'how many to leave out from the beginning' },
} as const

const BODY_OPTION = {
  body: {
    value: 'JSON|@FILE|-',
    summary: 'all of it as JSON, from a file, or from standard input; other options add to it',
  },
} as const

const BODY_DETAILS = `Lists take one value for each time that the option is given, or values with commas between; objects are JSON. Role lists
take #attribute, #all, and @name or @id. Secrets have no option of their own: --body - or --body @FILE keeps them off the
command line.`

/** The command that lists, shows or changes the entities of a collection. */
export async function entityCommand(collection: string, verb: EntityVerb): Promise<Command> {
  const common = { hasJson: true, exitCodes: { 0: 'done' } } as const
  switch (verb) {
    case 'list':
      return defineCommand({
        ...common,
        options: { ...CONNECTION_OPTIONS, ...LIST_OPTIONS },
        examples: [`portcullis ${collection} list --filter 'name contains "web"' --json`],
        run: (call) => listEntities(collection, call),
      })
    case 'get':
      return defineCommand({
        ...common,
        operands: 'NAME|ID',
        options: CONNECTION_OPTIONS,
        run: (call) => getEntity(collection, call),
      })
    case 'create':
      return defineCommand({
        ...common,
        options: { ...CONNECTION_OPTIONS, ...BODY_OPTION, ...(await fieldOptions(collection, verb)) },
        details: BODY_DETAILS,
        run: (call) => createEntity(collection, call),
      })
    case 'patch':
      return defineCommand({
        ...common,
        operands: 'NAME|ID',
        options: { ...CONNECTION_OPTIONS, ...BODY_OPTION, ...(await fieldOptions(collection, verb)) },
        details: BODY_DETAILS,
        run: (call) => patchEntity(collection, call),
      })
    case 'delete':
      return defineCommand({
        ...common,
        operands: 'NAME|ID...',
        options: CONNECTION_OPTIONS,
        run: (call) => deleteEntities(collection, call),
      })
  }
}

type ConnectionOption = keyof typeof CONNECTION_OPTIONS
type WriteCall = CommandCall<ConnectionOption | 'body'>

/** The kind of entity that the `@name` of a role list names. */
const ROLE_LISTS: Readonly<Record<string, string>> = {
  identityRoles: 'identities',
  serviceRoles: 'services',
  edgeRouterRoles: 'edge-routers',
  postureCheckRoles: 'posture-checks',
}

/** Makes an entity from the options. Throws {@link UsageError}. */
async function createEntity(collection: string, call: WriteCall): Promise<Answer> {
  const body = await readBody(collection, 'create', call.options)
  const id = await withConnection(call, async (connection) =>
    postEntity(connection, collection, await withIds(connection, body)),
  )
  return { text: id, value: { id } }
}

/** Changes an entity as the options say. Throws {@link UsageError}. */
async function patchEntity(collection: string, call: WriteCall): Promise<Answer> {
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

/** Deletes entities; none if one of them is unknown. Throws {@link UsageError}. */
async function deleteEntities(collection: string, call: CommandCall<ConnectionOption>): Promise<Answer> {
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

/** The body with ids in place of the names in role lists: people write `@laptop`, the API takes `@id`. */
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
