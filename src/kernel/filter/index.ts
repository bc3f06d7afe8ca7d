export * from './ast.ts'
export type * from './filter-symbols.ts'
export * from './matches.ts'
export * from './parse.ts'
