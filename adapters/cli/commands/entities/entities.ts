import { type Command, defineCommand } from '../../command-line/command.ts'
import { CONNECTION_OPTIONS } from '../../connection/connection-options.ts'

/** The actions on the entities of a collection of the management API. */
export type EntityVerb = 'list' | 'get' | 'create' | 'patch' | 'delete'

const ALL: readonly EntityVerb[] = ['list', 'get', 'create', 'patch', 'delete']

/**
 * The collections of the management API whose entities have commands, with the word for one of them. They stand here too,
 * beside the declarations, because help must not load those; a test holds them together.
 */
export const COLLECTIONS: Readonly<Record<string, { readonly one: string; readonly verbs: readonly EntityVerb[] }>> = {
  identities: { one: 'identity', verbs: ALL },
  services: { one: 'service', verbs: ALL },
  'service-policies': { one: 'service policy', verbs: ALL },
  'edge-routers': { one: 'edge router', verbs: ALL },
  'edge-router-policies': { one: 'edge router policy', verbs: ALL },
  'service-edge-router-policies': { one: 'service edge router policy', verbs: ALL },
  'transit-routers': { one: 'transit router', verbs: ALL },
  'posture-checks': { one: 'posture check', verbs: ALL },
  configs: { one: 'config', verbs: ALL },
  'config-types': { one: 'config type', verbs: ALL },
  terminators: { one: 'terminator', verbs: ALL },
  'auth-policies': { one: 'auth policy', verbs: ALL },
  authenticators: { one: 'authenticator', verbs: ALL },
  enrollments: { one: 'enrollment', verbs: ['list', 'get', 'create', 'delete'] },
  cas: { one: 'certificate authority', verbs: ALL },
  'external-jwt-signers': { one: 'external JWT signer', verbs: ALL },
  'api-sessions': { one: 'API session', verbs: ['list', 'get', 'delete'] },
  sessions: { one: 'session', verbs: ['list', 'get', 'delete'] },
}

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

/** The commands of every collection: `identities list`, `services create`, … */
export const ENTITY_COMMANDS: readonly Command[] = Object.entries(COLLECTIONS).flatMap(([collection, { one, verbs }]) =>
  verbs.map((verb) => entityCommand(collection, one, verb)),
)

function entityCommand(collection: string, one: string, verb: EntityVerb): Command {
  const name = `${collection} ${verb}`
  const article = /^[aei]|^API/.test(one) ? 'an' : 'a'
  const common = { name, hasJson: true, exitCodes: { 0: 'done' } } as const
  switch (verb) {
    case 'list':
      return defineCommand({
        ...common,
        summary: `list ${collection}`,
        options: { ...CONNECTION_OPTIONS, ...LIST_OPTIONS },
        examples: [`portcullis ${name} --filter 'name contains "web"' --json`],
        run: async (call) => (await import('./read-entities.ts')).listEntities(collection, call),
      })
    case 'get':
      return defineCommand({
        ...common,
        summary: `show ${article} ${one}`,
        operands: 'NAME|ID',
        options: CONNECTION_OPTIONS,
        run: async (call) => (await import('./read-entities.ts')).getEntity(collection, call),
      })
    case 'create':
      return defineCommand({
        ...common,
        summary: `make ${article} ${one}; its id is printed`,
        options: { ...CONNECTION_OPTIONS, ...BODY_OPTION },
        loadOptions: async () => (await import('./entity-fields.ts')).fieldOptions(collection, verb),
        details: BODY_DETAILS,
        run: async (call) => (await import('./write-entities.ts')).createEntity(collection, call),
      })
    case 'patch':
      return defineCommand({
        ...common,
        summary: `change ${article} ${one}; what is not named stays`,
        operands: 'NAME|ID',
        options: { ...CONNECTION_OPTIONS, ...BODY_OPTION },
        loadOptions: async () => (await import('./entity-fields.ts')).fieldOptions(collection, verb),
        details: BODY_DETAILS,
        run: async (call) => (await import('./write-entities.ts')).patchEntity(collection, call),
      })
    case 'delete':
      return defineCommand({
        ...common,
        summary: `delete ${article} ${one}`,
        operands: 'NAME|ID...',
        options: CONNECTION_OPTIONS,
        run: async (call) => (await import('./write-entities.ts')).deleteEntities(collection, call),
      })
  }
}
