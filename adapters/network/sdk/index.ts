/**
 * Dials and hosts services of a network from any program on Node, as an identity that has enrolled: with Portcullis and with deployed
 * controllers and routers. Nothing of a controller is loaded.
 *
 * @module portcullis/sdk
 */
export type { EndpointFacts, EndpointProcess } from '../../../src/policy.ts'
export { ConnectionFailure, FAILURE_CODES, type FailureCode } from './connection-failure.ts'
export type { DialOptions } from './dialing.ts'
export { type DeviceEnrollment, type EnrollOptions, enroll, enrollDevice } from './enroll.ts'
export type { FetchApp, HostedApp, HostedAppOptions } from './hosted-app.ts'
export type { HostedService, HostOptions } from './hosting.ts'
export type { Identity, IdentityOptions } from './identity.ts'
export type { SecondFactor } from './identity-client.ts'
export { type CertifiedKey, type EnrolledDevice, type IdentityFile, writeIdentity } from './identity-file.ts'
export { openIdentity } from './open-identity.ts'
export type { UsableService } from './service-access.ts'
export type { FetchDispatcher, ServiceRequestInit } from './service-agent.ts'
export type { Caller, ProvedPeer, ServiceConnection } from './service-connection.ts'
