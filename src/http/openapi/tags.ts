import type { JsonObject } from './openapi-schema.ts'

/** Topics of operations: a name, a description, and the first words of their paths. */
const TOPICS: readonly (readonly [name: string, description: string, words: string])[] = [
  [
    'Controller',
    'What the controller is and offers, and how many entities it keeps.',
    '/ version specs swagger.json .well-known network-jwts protocols health-checks controllers controller-settings summary enumerated-capabilities enumerated-router-capabilities',
  ],
  ['Authentication', 'Starting, completing and ending an API session.', 'authenticate current-api-session'],
  ['Current identity', 'What a caller sees and changes of itself.', 'current-identity'],
  ['Enrollment', 'Invitations, and turning them into credentials.', 'enroll enrollments'],
  [
    'Identities',
    'Who may connect: people, devices, workloads and routers.',
    'identities identity-types identity-role-attributes identity-role-attribute-usage',
  ],
  ['Authenticators', 'What identities authenticate by.', 'authenticators'],
  ['Auth policies', 'How identities may authenticate.', 'auth-policies'],
  ['Certificate authorities', 'Third parties whose certificates are trusted.', 'cas'],
  ['External JWT signers', 'Third parties whose tokens are trusted.', 'external-jwt-signers'],
  ['Services', 'What can be reached on the network.', 'services service-role-attributes service-role-attribute-usage'],
  ['Terminators', 'Where the traffic of services leaves the network.', 'terminators'],
  ['Configs', 'Settings of services and routers, and their types.', 'configs config-types service-configs'],
  ['Service policies', 'Which identities may dial or bind which services.', 'service-policies'],
  [
    'Edge router policies',
    'Which identities and services may use which edge routers.',
    'edge-router-policies service-edge-router-policies',
  ],
  [
    'Routers',
    'What carries the traffic.',
    'edge-routers routers transit-routers edge-router-role-attributes edge-router-role-attribute-usage',
  ],
  [
    'Data plane',
    'Links between routers, the circuits over them, and the state of routers.',
    'links circuits inspections ws-api cluster raft',
  ],
  [
    'Posture',
    'Rules on the state of endpoints, and what endpoints report.',
    'posture-checks posture-check-types posture-check-role-attributes posture-check-role-attribute-usage posture-response posture-response-bulk',
  ],
  ['Sessions', 'What was granted, and what was revoked.', 'api-sessions sessions revocations'],
  ['Database', 'Care of the store.', 'database'],
  ['Audit trail', 'Who did what, from where and by which proof.', 'audit'],
  ['Trust', 'Which third parties may let in identities with rights.', 'trust-anchors'],
  ['Explanations', 'Why access is as it is, and what changes would do to it.', 'explain simulate'],
  [
    'Explorer',
    'The network as people look at it: drawn by groups, as a table, by name, and what happens in it.',
    'access-map findings graph matrix reach search events',
  ],
]

const TOPIC_OF = new Map(TOPICS.flatMap(([name, , words]) => words.split(' ').map((word) => [word, name] as const)))

/** The topic of an operation, by the first word of its path. */
export function tagOf(route: string): string {
  const [, path = '/'] = route.split(' ')
  const name = TOPIC_OF.get(path.split('/')[1] || '/')
  if (name === undefined) throw new Error(`no topic has the path ${path}`)
  return name
}

/** The topics of some operations, in the order of the table. */
export function tagsOf(routes: readonly string[]): readonly JsonObject[] {
  const used = new Set(routes.map(tagOf))
  return TOPICS.filter(([name]) => used.has(name)).map(([name, description]) => ({ name, description }))
}
