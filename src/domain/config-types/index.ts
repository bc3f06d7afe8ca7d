import { HOST_V1, HOST_V2 } from './host.ts'
import { INTERCEPT_V1 } from './intercept.ts'
import { INTERFACES_V1 } from './interfaces.ts'
import { PROXY_V1 } from './proxy.ts'
import { ROUTER_LINK_V1 } from './router-link.ts'
import type { JsonSchemaDocument } from './schema-parts.ts'
import { TUNNELER_CLIENT_V1, TUNNELER_SERVER_V1 } from './tunneler.ts'

export { isFormerSchema } from './former-schemas.ts'
export type { JsonSchemaDocument } from './schema-parts.ts'

/** A config type that every controller begins with. */
export interface BuiltInConfigType {
  readonly id: string
  readonly name: string
  readonly target: 'service' | 'router'
  readonly schema: JsonSchemaDocument
}

/** The config types of a new controller, under the ids that deployed clients know. */
export const BUILT_IN_CONFIG_TYPES: readonly BuiltInConfigType[] = [
  forServices('ziti-tunneler-client.v1', TUNNELER_CLIENT_V1, 'f2dd2df0-9c04-4b84-a91e-71437ac229f1'),
  forServices('ziti-tunneler-server.v1', TUNNELER_SERVER_V1, 'cea49285-6c07-42cf-9f52-09a9b115c783'),
  forServices('intercept.v1', INTERCEPT_V1, 'g7cIWbcGg'),
  forServices('host.v1', HOST_V1, 'NH5p4FpGR'),
  forServices('host.v2', HOST_V2),
  forServices('interfaces.v1', INTERFACES_V1),
  forServices('proxy.v1', PROXY_V1),
  { id: 'router.link.v1', name: 'router.link.v1', target: 'router', schema: ROUTER_LINK_V1 },
]

function forServices(name: string, schema: JsonSchemaDocument, id = name): BuiltInConfigType {
  return { id, name, target: 'service', schema }
}
