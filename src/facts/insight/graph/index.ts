export { type Classified, ClassTable, type EntityClass } from './classes.rules.ts'
export { edgesOf, policiesAmong } from './edges.rules.ts'
export {
  ENDS,
  type GraphPolicy,
  type GroupedKind,
  type LinkType,
  RolePolicies,
} from './role-policies.rules.ts'
