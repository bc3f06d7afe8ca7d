import { ADDRESS, closed, inhabitedSet, PORT_RANGE, PROTOCOL, TEXT, TIMEOUT_SECONDS } from './schema-parts.ts'

/** Which addresses and ports a tunneler intercepts for a service, and how it dials. */
export const INTERCEPT_V1 = {
  $id: 'http://edge.openziti.org/schemas/intercept.v1.config.json',
  ...closed(
    {
      protocols: inhabitedSet(PROTOCOL),
      addresses: inhabitedSet(ADDRESS),
      portRanges: inhabitedSet(PORT_RANGE),
      dialOptions: closed({ identity: TEXT, connectTimeoutSeconds: TIMEOUT_SECONDS }),
      sourceIp: TEXT,
      allowedSourceAddresses: inhabitedSet(ADDRESS),
    },
    ['protocols', 'addresses', 'portRanges'],
  ),
}
