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
  type AppliedModel,
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
  type ModelInput,
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
export {
  AssertionsFailed,
  ChangeRefused,
  type Coverage,
  type CoveredKind,
  coverageText,
  lowestShare,
  modelNetwork,
  type Plan,
  type PlanOptions,
  type Progress,
  type TestCase,
  type TestResult,
  type TouchedAccess,
  testModel,
} from '../../../src/planning/index.ts'
export { checkMoved, leadsTo } from './check-moved.ts'
export type { AdminOptions } from './model-connection.ts'
export { readModel } from './model-module.ts'
export { modelSchema } from './model-schema.ts'
export { modelObject, modelText } from './model-text.ts'
export { applyModel, applyPlan, planModel, readNetwork, testController } from './plan-remote.ts'
export { type ExportedNetwork, holdSecondFactors, identitiesWithSecondFactor, readExport } from './read-export.ts'
export { readSource, type SourceNetwork } from './read-source.ts'
export { junit, planText, tap, testText } from './reports.ts'
