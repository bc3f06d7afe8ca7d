export {
  type AccessAssertion,
  type AssertedPosture,
  type Assertion,
  type InvariantAssertion,
  isInvariant,
} from './assertions/assertion.ts'
export { defineModel, type NetworkModel } from './define-model.ts'
export { type AccessChange, type AccessDifference, accessDifference } from './difference/access-difference.ts'
export {
  entityDifference,
  type MemberChange,
  type PlannedChange,
  pruned,
  serviceConfigsOf,
} from './difference/entity-difference.ts'
export { NetworkView } from './difference/overlay.ts'
export { compact, replacement } from './entities/compact.ts'
export { isBuiltIn, kindOfKey, MODEL_KINDS, type ModelKey, type ModelKind } from './entities/kinds.ts'
export { type Body, isMap, linksOf, renameLinks, SERVICE_CONFIGS, type ServiceConfigPair } from './entities/links.ts'
export { sameValue } from './entities/same-value.ts'
export { type AccessGraph, accessGraph, type GraphEdge, type GraphGroup } from './graph/access-graph.ts'
export { dot } from './graph/dot.ts'
export { mermaid } from './graph/mermaid.ts'
export { svg } from './graph/svg.ts'
export { invariantsOf, policySetOf } from './invariants/invariants-of.ts'
export type { Model, ModelAssertion, ModelEntity } from './network/model.ts'
export { Network, type NetworkEntity } from './network/network.ts'
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
} from './problems/problem.ts'
export { readSources, requireLinks } from './read-sources.ts'
