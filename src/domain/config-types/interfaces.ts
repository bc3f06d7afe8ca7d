import { HEALTH_CHECK_DEFINITIONS } from './health-checks.ts'
import { closed, TEXT } from './schema-parts.ts'

/** The network interfaces on which a service is hosted or intercepted. Its definitions are those that deployed clients see. */
export const INTERFACES_V1 = {
  $id: 'https://netfoundry.io/schemas/interfaces.v1.config.json',
  definitions: HEALTH_CHECK_DEFINITIONS,
  ...closed({ interfaces: { type: 'array', items: TEXT } }, ['interfaces']),
}
