import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** Expects what `toEqual` does. Equal answers pass without the matcher, which takes seconds for some thousand large ones. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}
