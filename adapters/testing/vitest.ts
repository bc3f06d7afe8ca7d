/**
 * Puts the matchers of `portcullis/testing` in place for vitest: import it in a test, or name it in `setupFiles`.
 *
 * @module portcullis/testing/vitest
 */
import { expect } from 'vitest'
import { type AccessMatchers, accessMatchers } from './expectations/matchers.ts'

expect.extend(accessMatchers)

declare module 'vitest' {
  // Reads as the declaration of vitest that it adds to.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends AccessMatchers {}
}
