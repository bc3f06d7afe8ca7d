export { edgesOf, type GroupEdge } from './edges.ts'
export { type Classified, classify } from './entity-classes.ts'
export {
  ENDS,
  GROUPED_KINDS,
  type GraphPolicy,
  type GroupedKind,
  type Grouping,
  type LinkType,
} from './graph-policy.ts'
export { attributesKey, type Grouped, gather, groupKey } from './groups.ts'
export { RolePolicies } from './role-policies.ts'
