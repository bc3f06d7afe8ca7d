import type { Storage } from './core.ts'

/** Declares one case of the contract, in the manner of test runners. */
export interface DeclareCase {
  (name: string, run: () => Promise<void>): void
  /** Declares a case for each row. `%s`, `%i` and `%j` in the name stand for the members of the row, in order. */
  each<const Row>(rows: readonly Row[]): (name: string, run: (row: Row) => Promise<void>) => void
}

/** The functions that a part of the contract is declared with. */
export interface Suite {
  readonly it: DeclareCase
  /** A fresh storage, which is disposed of after the case. */
  readonly open: () => Promise<Storage>
}

/** Passes the cases of one part of the contract to `declare`, with their names spelled out. */
export function caseDeclaration(declare: (name: string, run: () => Promise<void>) => unknown): DeclareCase {
  const each: DeclareCase['each'] = (rows) => (name, run) => {
    for (const row of rows) declare(spelledOut(name, Array.isArray(row) ? row : [row]), () => run(row))
  }
  return Object.assign((name: string, run: () => Promise<void>) => void declare(name, run), { each })
}

function spelledOut(name: string, values: readonly unknown[]): string {
  const left = [...values]
  return name.replace(/%[sij]/g, (place) => (place === '%j' ? JSON.stringify(left.shift()) : String(left.shift())))
}
