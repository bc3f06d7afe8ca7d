/**
 * Networks as files: read and tested, compared with a controller and applied to it, written from a controller and drawn.
 *
 * @module portcullis/model
 */
export {
  type AccessAssertion,
  type AccessChange,
  type AccessDifference,
  type AccessGraph,
  type AssertedPosture,
  type Assertion,
  accessGraph,
  type Body,
  defineModel,
  dot,
  type GraphEdge,
  type GraphGroup,
  type InvariantAssertion,
  type MatrixAssertion,
  type MemberChange,
  type Model,
  type ModelAssertion,
  type ModelEntity,
  ModelError,
  type ModelIdentity,
  type ModelKey,
  mermaid,
  Network,
  type NetworkEntity,
  type NetworkModel,
  type Path,
  type Place,
  type PlannedChange,
  type Problem,
  problemText,
  type ServiceConfigPair,
  svg,
  type TriedAssertion,
} from '../../../src/model/index.ts'
export { ChangeRefused, type Progress } from './apply-changes.ts'
export type { Coverage, CoveredKind, TestCase, TestResult, TouchedAccess } from './check-invariant.ts'
export { checkMoved, leadsTo } from './check-moved.ts'
export { coverageText, lowestShare } from './coverage.ts'
export type { AdminOptions } from './model-connection.ts'
export { modelSchema } from './model-schema.ts'
export {
  AssertionsFailed,
  applyModel,
  applyPlan,
  type Plan,
  type PlanOptions,
  planModel,
} from './plan-model.ts'
export { type ExportedNetwork, holdSecondFactors, identitiesWithSecondFactor, readExport } from './read-export.ts'
export { type ModelInput, modelObject, modelText, readModel } from './read-model.ts'
export { readNetwork } from './read-network.ts'
export { readSource, type SourceNetwork } from './read-source.ts'
export { junit, planText, tap, testText } from './reports.ts'
export { modelNetwork, testController, testModel } from './test-model.ts'
