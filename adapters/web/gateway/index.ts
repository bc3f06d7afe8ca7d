/**
 * A door for browsers: dark services under `https://NAME.apps.example`, after a login at the controller, without a client.
 *
 * @module portcullis/gateway
 */
export type { AcmeCertificates, AcmeFailure, AcmeOptions } from './acme/acme-options.ts'
export { acmeCertificates } from './acme-certificates.ts'
export type { CallerHeaders } from './forwarded-headers.ts'
export {
  type Gateway,
  type GatewayController,
  type GatewayOptions,
  type GatewayRouter,
  gateway,
  gatewayRedirectUri,
} from './gateway.ts'
