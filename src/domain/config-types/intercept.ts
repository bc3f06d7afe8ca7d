import { closed, defined, inhabitedSetOf, TEXT } from './schema-parts.ts'
import { TUNNEL_DEFINITIONS } from './tunnel-definitions.ts'

/** Which addresses and ports a tunneler intercepts for a service, and how it dials. */
export const INTERCEPT_V1 = {
  $id: 'http://edge.openziti.org/schemas/intercept.v1.config.json',
  definitions: TUNNEL_DEFINITIONS,
  ...closed(
    {
      protocols: inhabitedSetOf('protocolName'),
      addresses: inhabitedSetOf('listenAddress'),
      portRanges: inhabitedSetOf('portRange'),
      dialOptions: closed({
        identity: {
          ...TEXT,
          description:
            "the terminator to dial, by its identity; '$dst_protocol', '$dst_ip' and '$dst_port' stand for what was intercepted",
        },
        connectTimeoutSeconds: defined('timeoutSeconds', '15 by default, and 5 without any dialOptions'),
      }),
      sourceIp: {
        ...TEXT,
        description:
          "the source address, with a port or without, of the connection to the server; '$tunneler_id.name', '$tunneler_id.tag[name]', '$src_ip', '$src_port' and '$dst_port' stand for those of the client",
      },
      allowedSourceAddresses: inhabitedSetOf(
        'listenAddress',
        'the source addresses whose traffic is intercepted; any by default',
      ),
    },
    ['protocols', 'addresses', 'portRanges'],
  ),
}
