import type { ListedCommand } from '../../command-line/command.ts'
import type { EntityVerb } from './entity-command.ts'

const ALL: readonly EntityVerb[] = ['list', 'get', 'create', 'patch', 'delete']

/**
 * The collections whose entities have commands, with the word for one entity. The list repeats the declarations, because help must not load
 * these. A test compares both.
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
  webhooks: { one: 'webhook', verbs: ALL },
}

/** The commands of every collection: `identities list`, `services create`, … */
export const ENTITY_COMMANDS: readonly ListedCommand[] = Object.entries(COLLECTIONS).flatMap(
  ([collection, { one, verbs }]) =>
    verbs.map((verb) => ({
      name: `${collection} ${verb}`,
      summary: summaryOf(collection, one, verb),
      load: async () => (await import('./entity-command.ts')).entityCommand(collection, verb),
    })),
)

function summaryOf(collection: string, one: string, verb: EntityVerb): string {
  const some = `${/^[aei]|^API/.test(one) ? 'an' : 'a'} ${one}`
  return {
    list: `list ${collection}`,
    get: `show ${some}`,
    create: `make ${some}; its id is printed`,
    patch: `change ${some}; what is not named stays`,
    delete: `delete ${some}`,
  }[verb]
}
