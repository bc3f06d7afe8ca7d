export { field, mapOf, optional, repeated } from './field.ts'
export { type MessageOf, type MessageType, message } from './message-type.ts'
export { ProtobufError, valuesOf } from './reader.ts'
export * from './value-type.ts'
