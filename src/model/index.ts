export { isMap } from '../base/members.ts'
export { type AccessChange, type AccessDifference, accessDifference } from './access-difference.ts'
export { type AccessGraph, accessGraph, type GraphEdge, type GraphGroup } from './access-graph.ts'
export {
  type AccessAssertion,
  type AssertedPosture,
  type Assertion,
  assertionSchema,
  type InvariantAssertion,
  isInvariant,
  type MatrixAssertion,
  type TriedAssertion,
} from './assertions.ts'
export { defineModel, type ModelIdentity, type ModelInput, type NetworkModel } from './define-model.ts'
export { dot, mermaid } from './drawings.ts'
export {
  type AppliedModel,
  entityDifference,
  type MemberChange,
  NetworkView,
  type PlannedChange,
  pruned,
  serviceConfigsOf,
} from './entity-difference.ts'
export { invariantsOf, policySetOf } from './invariants-of.ts'
export {
  type Body,
  isBuiltIn,
  kindOfKey,
  linksOf,
  MODEL_KINDS,
  type ModelKey,
  type ModelKind,
  renameLinks,
  SERVICE_CONFIGS,
  type ServiceConfigPair,
} from './managed-kinds.ts'
export {
  ModelError,
  type Path,
  type Place,
  type Problem,
  pathOf,
  pathText,
  placeText,
  problemText,
  type Source,
} from './model-problem.ts'
export type { Model, ModelAssertion, ModelEntity } from './network-model.ts'
export {
  assumedRouterPolicies,
  isRouterPolicy,
  Network,
  type NetworkEntity,
  withRouterPolicies,
} from './network-model.ts'
export { compact, replacement, sameValue } from './read-entity.ts'
export { readSources, requireLinks } from './read-sources.ts'
export { svg } from './svg.ts'
