import { closed, TEXT } from './schema-parts.ts'

/** The network interfaces on which a service is hosted or intercepted. */
export const INTERFACES_V1 = {
  $id: 'https://netfoundry.io/schemas/interfaces.v1.config.json',
  ...closed({ interfaces: { type: 'array', items: TEXT } }, ['interfaces']),
}
