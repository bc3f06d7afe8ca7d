/**
 * Puts the matchers of `portcullis/testing` in place for jest: import it in a test, or name it in `setupFilesAfterEnv`. Jest reads
 * ES modules with `node --experimental-vm-modules`. Where `injectGlobals` is off, `expect.extend(accessMatchers)` does the same.
 *
 * @module portcullis/testing/jest
 */
// The augmentation below is of a module that the program has read.
import type {} from 'expect'
import { type AccessMatchers, accessMatchers } from './access-expectations.ts'

/** The global of jest. */
declare const expect: { extend(matchers: typeof accessMatchers): void }

expect.extend(accessMatchers)

declare module 'expect' {
  // Reads as the declaration of jest that it adds to.
  interface Matchers<R extends void | Promise<void>, T = unknown> extends AccessMatchers {}
}

declare global {
  // The types of jest's globals (@types/jest) have matchers of their own.
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: reads as the declaration that it adds to.
    interface Matchers<R, T = {}> extends AccessMatchers {}
  }
}
