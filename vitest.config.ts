import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { installedPackage, testsByName } from './test/package/installed-package.ts'
import { SummaryReporter } from './test/support/summary-reporter.ts'

const { PORTCULLIS_SUITE, PORTCULLIS_KEPT_TEXTS, PORTCULLIS_INSTALLED_IN } = process.env
const isKeeping = PORTCULLIS_KEPT_TEXTS !== 'off'

// Processes that tests start run the source, which they would compile anew each time.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/** Tests that take long and seldom break: `npm run test:slow` has it, which continuous integration runs after `npm test`. */
const SLOW = [
  // Kills of running processes, one machine that runs out of disk, several processes over one database.
  'test/crash/*.test.ts',
  'test/webhooks/{killed,hanging}.test.ts',
  // Changes of keys under two processes, and a campaign that is killed: authorities sign 20 s after they were made.
  'test/pki/processes.test.ts',
  // Commands that copy and restore storages, a process each.
  'test/adapters/cli/backup.test.ts',
  'test/races/*.test.ts',
  'test/examples/{behind-proxy,cluster,hosts,quickstart}.test.ts',
  'test/adapters/cli/served-{disasters,events,probes,processes,router-workers,workers}.test.ts',
  'test/adapters/cli/{cli,cli-audit,cli-router,cli-defaults,cli-doctor,cli-explain,cli-questions,cli-reset-password,cli-serve-check,cli-storage,cli-without-sqlite}.test.ts',
  'test/openid/processes.test.ts',
  // The contract of storages on a server, which SQLite and memory pass in the short run, and databases that fail.
  'test/adapters/sql/postgres-storage{,.cache,.plans,.processes}.test.ts',
  'test/adapters/sql/sqlite-storage.cache.test.ts',
  'test/adapters/sql/{damaged-records,sqlite-place,storage-away,storage-faults}.test.ts',
  // What two requests do to each other: `test/attacks` has the rest of the attacks in the short run.
  'test/attacks/races.test.ts',
  // Sockets that hold the places of routers, by the hundred.
  'test/attacks/control-places.test.ts',
  // Endpoints by the ten thousand at one router.
  'test/data-plane/many-endpoints.test.ts',
  // Every order of writing, closing and attaching at both ends of a circuit; every report of an endpoint at a router.
  'test/data-plane/{handed-on-posture,leaving-ends}.test.ts',
  // Every kind that is deleted by one party and taken back by another.
  'test/audit/undo-restores.test.ts',
  // A router in a process of its own, and the audit trail over every storage.
  'test/data-plane/standalone-router.test.ts',
  'test/audit/stored-trail.test.ts',
  // Certificate chains against OpenSSL, one process each.
  'test/platform/chain.test.ts',
  // Clients that are slow on purpose, and a certificate that a running server takes over: they wait for real time to pass.
  'test/adapters/node/node-{fairness,limits}.test.ts',
  'test/journeys/certificate-renewal.test.ts',
  // Whether logins that are refused for one reason take as long as for another: 150 password hashes.
  'test/attacks/login-times.test.ts',
  'test/routers/{model,presence}-processes.test.ts',
  // What every field of every API does in every request that does not take it.
  'test/laws/mass-assignment.test.ts',
  // Networks of five thousand, of which one is asked before anything is worked out.
  'test/graph/prepared.test.ts',
  // The explorer in a browser: every view for axe in light and dark, names that attack it, the largest network.
  'test/explorer/{accessibility,first-use,hostile-names,large,live,live-state,phone,review,safe-answers,session,six-questions,undo,waiting}.test.ts',
  // The contract of storages under another test runner, that of the APIs over SQL, clients that are generated.
  'test/examples/{storage,test-server}.test.ts',
  'test/adapters/sql/*-storage.http.test.ts',
  'test/documents/{documented-answers,generated-client,shell}.test.ts',
  // Every question of every list, for every set of permissions: some hundred thousand requests.
  'test/attacks/unreadable.test.ts',
  // What ends with what, over a database that each process opens by itself, and at the router of a process's own.
  'test/endings/{endings-sqlite,own-router}.test.ts',
  // The pages of the API reference in a browser.
  'test/reference/browser.test.ts',
  // Circuits over links end as slowly as they must: what comes late is still acknowledged.
  'test/data-plane/linked-endpoints.test.ts',
  // What the compiler says of declarations and examples.
  'test/types/*.test.ts',
  // The API behind each adapter: the short run has it by `fetch`.
  'test/adapters/http-{express,fastify,hono,node}.test.ts',
  // Every ending at every door; the short run ends some at random.
  'test/endings/endings.test.ts',
  // A browser, a process for each command line, passwords and certificates that take long on purpose.
  'test/explorer/journeys.test.ts',
  'test/adapters/cli/{cli-entities,cli-help,cli-hostile-names,cli-import,cli-network,cli-output}.test.ts',
  'test/sdk/{slow-readers,tunnel}.test.ts',
  // Dials that are waited for.
  'test/fabric/control/traced-dials.test.ts',
  'test/platform/{password-hasher,signing-request,x509-pki.contract}.test.ts',
  'test/attacks/{stored-bytes,flat,tokens,hostile-text,hostile-tokens,hostile-types,posture-bytes}.test.ts',
  'test/openid/browser.test.ts',
  'test/laws/laws.test.ts',
  'test/adapters/sql/postgres-storage.{migration,failures}.test.ts',
  // Every block of the guides, run as it stands.
  'test/documents/guides.test.ts',
  'test/access/long-questions.test.ts',
  // Routers, links, hosts and controllers that come and go, for a minute.
  'test/fabric/churn/churn.test.ts',
  // Every line of the deployment files, a process each.
  'test/deployment/deployment-files.test.ts',
  // A cluster of PostgreSQL whose primary is killed; `npm run test:failover` has the other ways to lose one.
  'test/failover/failover.test.ts',
  // Two controllers that are replaced by another release and back, where the git history has one.
  'test/failover/rolling-upgrade.test.ts',
]

/** Tests that `npm test` has in short and `npm run test:slow` in full: the API behind each adapter, what is tried at random. */
const IN_FULL = [
  'test/adapters/sql/*-storage.test.ts',
  'test/**/*.property.test.ts',
  'test/reference/reference.test.ts',
]

export default defineConfig({
  // Tests import the package by its name and get its source, as the examples do.
  // Those of a package that is installed, `npm run test:package`, get that one.
  plugins: PORTCULLIS_INSTALLED_IN === undefined ? [] : [installedPackage(PORTCULLIS_INSTALLED_IN)],
  resolve: { conditions: ['portcullis-source'] },
  ssr: { resolve: { conditions: ['portcullis-source'] } },
  test: {
    include:
      PORTCULLIS_INSTALLED_IN !== undefined
        ? [...testsByName()]
        : PORTCULLIS_SUITE === 'slow'
          ? [...SLOW, ...IN_FULL]
          : ['test/**/*.test.ts', 'examples/in-test/*.test.ts'],
    // These need programs of others: `npm run test:clients` and `npm run test:routers` ask for them.
    exclude: [
      ...(PORTCULLIS_SUITE === 'short' ? SLOW : []),
      ...(isKeeping ? [] : ['test/entities/json-text.test.ts', 'test/http/kept-lists.test.ts']),
      ...(process.env.PORTCULLIS_CLIENTS === 'all' ? [] : ['test/clients/**']),
      ...(process.env.PORTCULLIS_ROUTERS === 'all' ? [] : ['test/real-routers/**']),
      // These build and install the package; `npm run test:package` asks for them.
      ...(process.env.PORTCULLIS_PACKAGE === 'all' ? [] : ['test/package/**']),
    ],
    // Nothing but time follows from texts that are kept: a run without them shows it, but for the tests of keeping them.
    setupFiles: ['test/support/patience.ts', ...(isKeeping ? [] : ['test/support/keep-no-texts.ts'])],
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
