export { AccessIndex, type EdgeRoutersBetween } from './access-index.ts'
export { apply, type IndexChange, revert } from './index-change.ts'
export type { AccessType, EntityKind, IndexedEntity, IndexedPolicy, PolicyKind } from './kinds.ts'
export { SlotSet } from './slot-set.ts'
