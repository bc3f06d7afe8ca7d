export * from './find-violation.ts'
export * from './invariant.ts'
