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
  type MemberChange,
  type Model,
  type ModelAssertion,
  type ModelEntity,
  ModelError,
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
} from '../../src/model/index.ts'
export { ChangeRefused, type Progress } from './controller/apply-changes.ts'
export type { AdminOptions } from './controller/connection.ts'
export { readNetwork } from './controller/read-network.ts'
export { modelObject, modelText } from './files/model-text.ts'
export { type ModelInput, readModel } from './files/read-model.ts'
export { checkMoved, leadsTo } from './moving/check-moved.ts'
export { type ExportedNetwork, readExport } from './moving/read-export.ts'
export { readSource, type SourceNetwork } from './moving/read-source.ts'
export { holdSecondFactors, identitiesWithSecondFactor } from './moving/second-factors.ts'
export {
  AssertionsFailed,
  applyModel,
  applyPlan,
  type Plan,
  type PlanOptions,
  planModel,
} from './planning/plan-model.ts'
export { junit } from './reports/junit.ts'
export { planText } from './reports/plan-text.ts'
export { tap } from './reports/tap.ts'
export { testText } from './reports/test-text.ts'
export { modelNetwork, testController, testModel } from './testing/test-model.ts'
export type { TestCase, TestResult } from './testing/test-result.ts'
