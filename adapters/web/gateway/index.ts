/**
 * A door for browsers: dark services under `https://NAME.apps.example`, after a login at the controller, without a client.
 *
 * @module portcullis/gateway
 */
export type { CallerHeaders } from './forwarded-headers.ts'
export {
  type Gateway,
  type GatewayController,
  type GatewayOptions,
  type GatewayRouter,
  gateway,
  gatewayRedirectUri,
} from './gateway.ts'
