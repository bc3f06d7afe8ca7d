export { type Classified, ClassTable, type EntityClass } from './classes.rules.ts'
export { edgesOf, type GroupEdge } from './edges.rules.ts'
export { attributesKey, type Grouped, gather, groupKey } from './groups.rules.ts'
export {
  ENDS,
  GROUPED_KINDS,
  type GraphPolicy,
  type GroupedKind,
  type Grouping,
  type LinkType,
  RolePolicies,
} from './role-policies.rules.ts'
