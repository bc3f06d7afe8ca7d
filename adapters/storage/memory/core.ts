export * from '../../../src/storage.ts'
