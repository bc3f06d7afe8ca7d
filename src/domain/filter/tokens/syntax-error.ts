import { FilterError } from '../tree/filter-error.ts'

/** The error of something in a filter text that does not belong where it stands; lines count from 1, columns from 0. */
export function syntaxError(text: string, at: number, found: string, expected: string): FilterError {
  const before = text.slice(0, at).split('\n')
  const column = before.at(-1)?.length ?? 0
  const line = text.split('\n')[before.length - 1] ?? ''
  const place = `at line: ${before.length} column: ${column}. line: ${line}`
  return new FilterError('syntax', `Unexpected symbol: "${found}" ${place} (expected ${expected})`)
}
