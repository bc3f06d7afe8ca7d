/** Why an identity may, or may not, dial or bind a service: the first obstacle in the order of this list. */
export type Reason =
  /** No identity has the id or name. */
  | 'identity-unknown'
  /** No service has the id or name. */
  | 'service-unknown'
  /** The identity is disabled and cannot even authenticate. */
  | 'identity-disabled'
  /** No service policy selects both the identity and the service. */
  | 'no-policy-for-pair'
  /** Service policies select both, but only for the other of Dial and Bind. */
  | 'only-other-type'
  /** Service policies grant it, and each of them has a posture check that fails. */
  | 'posture-failing'
  /** No edge router policy gives the identity an edge router. */
  | 'no-edge-router-for-identity'
  /** No service edge router policy gives the service an edge router. */
  | 'no-edge-router-for-service'
  /** Both have edge routers, but none in common. */
  | 'no-common-edge-router'
  /** A session is given, but none of the common edge routers is online to carry it. */
  | 'all-common-edge-routers-offline'
  /** A session is given, and an edge router is online to carry it. */
  | 'granted'

/** Every reason, in the order in which they are looked for. */
export const REASONS = [
  'identity-unknown',
  'service-unknown',
  'identity-disabled',
  'no-policy-for-pair',
  'only-other-type',
  'posture-failing',
  'no-edge-router-for-identity',
  'no-edge-router-for-service',
  'no-common-edge-router',
  'all-common-edge-routers-offline',
  'granted',
] as const satisfies readonly Reason[]
