/**
 * A whole controller for tests, in memory, with a clock that the test turns: devices that enroll, posture, MFA, faults,
 * forks, and assertions about access.
 *
 * @module portcullis/testing
 */

export {
  type AccessMatchers,
  type AccessQuestion,
  type AssumedCircumstances,
  type AssumedFacts,
  accessMatchers,
  assertAllows,
  assertDenies,
  type Circumstances,
  type Explaining,
  type Reach,
} from './access-expectations.ts'
export type { AuthenticatorApp } from './authenticator-app.ts'
export { createTestController, TEST_ADMIN } from './create-test-controller.ts'
export type { Endpoints, NewIdentity, ServiceSession, TestDevice, TestEndpoint } from './endpoints.ts'
export { type FakeClock, type FakeScheduler, fakeClock, fakeScheduler, liveClock } from './fake-clock.ts'
export * from './fake-router.ts'
export { type LogEntry, plainPasswordHasher, recordingLogger, seededRandom } from './fakes.ts'
export { ConnectionDropped, type Fault, type FaultFilter, type Faults } from './faults.ts'
export type { TestNetwork } from './network/test-network.ts'
export type { RecordedRequest } from './request-record.ts'
export type { RoutedDevice, RoutedEndpoint, RoutedTestController } from './routed-controller.ts'
export type {
  ListeningController,
  ListenOptions,
  TestController,
  TestControllerOptions,
  TestSnapshot,
} from './test-controller.ts'
export { startTestServer, type TestServer, type TestServerFacts, type TestServerOptions } from './test-server.ts'
export type { TestEvents, Wait } from './waiting-events.ts'
