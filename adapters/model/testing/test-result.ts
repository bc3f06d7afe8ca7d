import type { Place } from '../../../src/model/index.ts'

/** One thing that was asked, and how it came out. */
export interface TestCase {
  /** What must hold, as `laptop may dial payroll`. */
  readonly name: string
  /** The assertion that it belongs to. */
  readonly place: Place
  readonly passed: boolean
  /** Why it came out so, over several lines: the explanation of the controller, or a counterexample. */
  readonly text: string
}

/** How all assertions of a model came out. */
export interface TestResult {
  readonly cases: readonly TestCase[]
  readonly passed: number
  readonly failed: number
  /** What the reader should know of the test itself, one line each. */
  readonly notes: readonly string[]
}

/** Counts what came out. */
export function resultOf(cases: readonly TestCase[], notes: readonly string[] = []): TestResult {
  const passed = cases.filter((one) => one.passed).length
  return { cases, passed, failed: cases.length - passed, notes }
}
