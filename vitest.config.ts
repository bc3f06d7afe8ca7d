import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { installedPackage, testsByName } from './test/package/installed-package.ts'
import { SummaryReporter } from './test/support/summary-reporter.ts'

const { PORTCULLIS_SUITE, PORTCULLIS_KEPT_TEXTS, PORTCULLIS_INSTALLED_IN } = process.env
const isKeeping = PORTCULLIS_KEPT_TEXTS !== 'off'

// Processes that tests start run the source, which they would compile anew each time.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** Tests that take long and seldom break: `npm run test:slow` has them, which continuous integration runs after `npm test`. */
const SLOW = '**/*.slow.test.ts'

/** Tests of a minute and more: `npm run test:long` has them, of which continuous integration runs a third after each change. */
const LONG = '**/*.long.test.ts'

/** Tests that `npm test` has in short and `npm run test:slow` in full: what is tried at random, the contract of storages. */
const BOTH = ['test/**/*.property.test.ts', 'test/**/*.both.test.ts']

/** The files of each suite; a run without one has them all. */
const OF_SUITE: Readonly<Record<string, readonly string[]>> = {
  slow: [`test/${SLOW}`, ...BOTH],
  long: [`test/${LONG}`],
}
const ALL = ['test/**/*.test.ts', 'examples/in-test/*.test.ts']
const INCLUDED =
  PORTCULLIS_INSTALLED_IN === undefined ? [...(OF_SUITE[PORTCULLIS_SUITE ?? ''] ?? ALL)] : [...testsByName()]

export default defineConfig({
  // Tests import the package by its name and get its source, as the examples do.
  // Those of a package that is installed, `npm run test:package`, get that one.
  plugins: PORTCULLIS_INSTALLED_IN === undefined ? [] : [installedPackage(PORTCULLIS_INSTALLED_IN)],
  resolve: { conditions: ['portcullis-source'] },
  ssr: { resolve: { conditions: ['portcullis-source'] } },
  test: {
    include: INCLUDED,
    // These need programs of others: `npm run test:clients` and `npm run test:routers` ask for them.
    exclude: [
      ...(PORTCULLIS_SUITE === 'short' ? [SLOW, LONG] : []),
      ...(isKeeping ? [] : ['test/entities/kept-texts.test.ts']),
      ...(process.env.PORTCULLIS_CLIENTS === 'all' ? [] : ['test/clients/**']),
      ...(process.env.PORTCULLIS_ROUTERS === 'all' ? [] : ['test/real-routers/**']),
      // Photographs of the explorer are looked at by readers: `npm run pictures` takes them.
      ...(process.env.PICTURES ? [] : ['test/explorer/pictures/**']),
      // These build and install the package: `npm run test:package` asks for all of them, `npm run test:packed` for the first.
      ...(process.env.PORTCULLIS_PACKAGE ? [] : ['test/package/**']),
    ],
    // Nothing but time follows from texts that are kept: a run without them shows it, but for the tests of keeping them.
    setupFiles: [
      'test/support/patience.ts',
      'test/support/drawn-cases.ts',
      ...(isKeeping ? [] : ['test/support/keep-no-texts.ts']),
    ],
    reporters: ['default', new SummaryReporter()],
    // The small machines that this must be quick on have two cores.
    maxWorkers: 2,
    // A worker loads the product once, which would otherwise take longer than many a file's tests. Tests restore what they change.
    isolate: false,
    testTimeout: 30_000,
    // A second, unless named, is too short for what somebody else's work on the machine delays.
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 60_000,
  },
})
