import { HEALTH_CHECK_DEFINITIONS, HEALTH_CHECKS } from './health-checks.ts'
import { closed, PORT, TEXT } from './schema-parts.ts'

const SCHEMAS = 'http://edge.openziti.org/schemas'

/** Where an old tunneler intercepts a service. */
export const TUNNELER_CLIENT_V1 = {
  $id: `${SCHEMAS}/ziti-tunneler-client.v1.config.json`,
  ...closed({ hostname: TEXT, port: PORT }, ['hostname', 'port']),
}

/** Where an old tunneler hosts a service. */
export const TUNNELER_SERVER_V1 = {
  $id: `${SCHEMAS}/ziti-tunneler-server.v1.config.json`,
  definitions: HEALTH_CHECK_DEFINITIONS,
  ...closed(
    {
      protocol: { type: ['string', 'null'], enum: ['tcp', 'udp'] },
      hostname: TEXT,
      port: PORT,
      ...HEALTH_CHECKS,
    },
    ['hostname', 'port'],
  ),
}
