export { edgesOf, type GroupEdge } from './edges.rules.ts'
export { attributesKey, type Classified, classify, type Grouped, gather, groupKey } from './groups.rules.ts'
export {
  ENDS,
  GROUPED_KINDS,
  type GraphPolicy,
  type GroupedKind,
  type Grouping,
  type LinkType,
  RolePolicies,
} from './role-policies.rules.ts'
