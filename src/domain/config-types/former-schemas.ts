import { canonicalJson } from '../canonical-json.ts'
import type { JsonSchemaDocument } from './schema-parts.ts'

/** SHA-256 of the canonical JSON of schemas that built-in config types had in version 0.1.0. */
const FORMER: ReadonlySet<string> = new Set([
  'dbc11b52c8491b4c37f801ba8ca58df143457a56e8c9e069294dffce24e6f3d6', // ziti-tunneler-server.v1
  'b76b5d2b35c656a0a67a584c7e7a910dacda02db77c76217183fc9ae3ba5b850', // intercept.v1
  '008d710cb4b461575b4b8438a8db0cfcad947a179a425fc6f7f8df136dda7c6e', // host.v1
  '788e8a152d17b61c92075f34d2afbed5e79187ff7506bc3985441a091cd4cb50', // host.v2
  '51c9efc87143df95f0c758efc09fcb196fad679479684c10b5d323c249abe4b9', // interfaces.v1
  '460c152b63f4a7365423f55b3da48f957dfda1f543be46d8a8a9377b0c8f3aca', // proxy.v1
  '240d696a9d1d59ae225f5c0b3c8c7a0741dfff72ed580f81f13286987b9c6cfc', // router.link.v1
])

/** Whether a schema is one that an earlier version gave to a built-in config type, and that nobody changed since. */
export function isFormerSchema(schema: JsonSchemaDocument, sha256: (text: string) => string): boolean {
  return FORMER.has(sha256(canonicalJson(schema)))
}
