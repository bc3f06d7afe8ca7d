/** Parts for the other end of a control channel: for routers that are played in tests. */

export * from '../channel/capability-mask.ts'
export * from '../channel/frame.ts'
export * from '../channel/header-values.ts'
export * from './messages/content-types.ts'
export * from './messages/edge-definitions.ts'
export * from './messages/fabric-definitions.ts'
export type * from './messages/message-row.ts'
export * from './messages/model-codec.ts'
export * from './messages/model-definitions.ts'
export * from './messages/rows-from-router.ts'
export * from './messages/rows-to-router.ts'
