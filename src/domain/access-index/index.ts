export { AccessIndex } from './access-index.ts'
export type { AccessType, EntityKind, IndexedEntity, IndexedPolicy, PolicyKind } from './kinds.ts'
