/**
 * Puts the matchers of `portcullis/testing` in place for vitest 3 and later: import it in a test, or name it in `setupFiles`.
 *
 * @module portcullis/testing/vitest
 */
import { expect } from 'vitest'
import { type AccessMatchers, accessMatchers } from './access-expectations.ts'

expect.extend(accessMatchers)

declare global {
  // Every line of vitest takes its assertions from here, while the parameters of its own interfaces differ between them.
  namespace Chai {
    interface Assertion extends AccessMatchers {}
  }
}
