export { ChangeRefused, type Progress } from './apply-changes.ts'
export type { Coverage, CoveredKind, TestCase, TestResult, TouchedAccess } from './check-invariant.ts'
export { coverageText, lowestShare } from './coverage.ts'
export { networkOf } from './engine-door.ts'
export {
  type AccessQuestion,
  type EntityDoor,
  type NetworkDoor,
  RefusedRequest,
  type ServiceConfigIds,
} from './network-door.ts'
export { AssertionsFailed, carryOut, PLAN_OPTIONS, type Plan, type PlanOptions, planFor } from './plan-model.ts'
export { readModelBy } from './read-model.ts'
export { readNetwork as readNetworkOf } from './read-network.ts'
export { modelNetwork, testModel, testNetwork } from './test-model.ts'
export { yamlPackage } from './yaml-source.ts'
