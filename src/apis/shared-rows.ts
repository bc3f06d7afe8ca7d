/** The rows that the client API and the management API have in common. */
export { authenticate, currentApiSessionOperations } from './login/authenticate.rows.ts'
export { currentIdentity, currentIdentityAuthenticatorOperations } from './login/current-identity.rows.ts'
export { mfaOperations } from './login/mfa.rows.ts'
export { specOperations } from './network/specs.rows.ts'
export { caCertificates, networkJwts } from './network/trust.rows.ts'
export { capabilityOperations, versionOperations } from './network/version.rows.ts'
