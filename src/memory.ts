/**
 * A storage in memory, which copies a whole world at no cost.
 *
 * @module portcullis/memory
 */
export { type MemoryStorage, memoryStorage } from './platform/memory/memory-storage.ts'
