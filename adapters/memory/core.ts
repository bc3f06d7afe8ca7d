export * from '../../src/domain/filter/index.ts'
export * from '../../src/ports/storage.ts'
