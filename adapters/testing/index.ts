/**
 * A whole controller for tests, in memory, with a clock that the test turns: devices that enroll, posture, MFA, faults,
 * forks, and assertions about access.
 *
 * @module portcullis/testing
 */
export { type FakeClock, fakeClock, liveClock } from './clock/fake-clock.ts'
export { type FakeScheduler, fakeScheduler } from './clock/fake-scheduler.ts'
export { createTestController, TEST_ADMIN } from './controller/create-test-controller.ts'
export type { ListeningController, ListenOptions } from './controller/listening.ts'
export type { TestController, TestControllerOptions, TestSnapshot } from './controller/test-controller.ts'
export type { TestEvents, Wait } from './controller/waiting-events.ts'
export type { AuthenticatorApp } from './endpoints/authenticator-app.ts'
export type { Endpoints, NewIdentity, TestDevice } from './endpoints/endpoints.ts'
export type { ServiceSession, TestEndpoint } from './endpoints/test-endpoint.ts'
export {
  type AccessQuestion,
  assertAllows,
  assertDenies,
  type Circumstances,
  type Explaining,
} from './expectations/access.ts'
export { type AccessMatchers, accessMatchers } from './expectations/matchers.ts'
export { type LogEntry, plainPasswordHasher, recordingLogger, seededRandom } from './fakes/fakes.ts'
export { ConnectionDropped, type Fault, type FaultFilter, type Faults } from './faults/faults.ts'
export { type EnrolledRouter, enrollEdgeRouter } from './routers/enrolled-router.ts'
export * from './routers/fake-router.ts'
