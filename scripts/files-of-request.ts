// Counts the files and functions of the product that one request runs through, by the coverage that V8 keeps: the second run of
// each, so that what is loaded and made once does not count. `npm run files-of-request`, with `--files` to name them.
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { sqliteStorage } from 'portcullis/kysely'
import { createTestController, type TestController, type TestDevice } from 'portcullis/testing'

const root = join(import.meta.dirname, '..')

interface Walk {
  readonly name: string
  run(controller: TestController, device: TestDevice, round: number): Promise<unknown>
}

/** Files that the caller runs here: the typed client checks its arguments, the test controller notes which operation is asked for. */
const OF_THE_CALLER: readonly string[] = ['src/apis/route-finder.ts', 'src/base/arguments.ts']

const WALKS: readonly Walk[] = [
  {
    name: 'a certificate login',
    run: ({ client }, { connection }) =>
      client(connection).call('POST /authenticate', { query: { method: 'cert' }, body: {} }),
  },
  {
    name: 'creating a service policy',
    run: ({ admin }, _device, round) =>
      admin.call('POST /service-policies', {
        body: {
          name: `dial-${round}`,
          type: 'Dial',
          semantic: 'AnyOf',
          identityRoles: ['#all'],
          serviceRoles: ['#all'],
        },
      }),
  },
  { name: 'listing services', run: (_controller, device) => device.call('GET /services') },
]

/** The files and functions of the product that a request runs through. */
export interface CalledFiles {
  readonly name: string
  readonly files: readonly string[]
  readonly functions: number
}

/** Runs each request twice in a controller over SQLite, and reads the coverage of the second run. */
export async function filesOfRequests(): Promise<readonly CalledFiles[]> {
  const folder = await mkdtemp(join(tmpdir(), 'files-of-request-'))
  const controller = await createTestController({ storage: await sqliteStorage(join(folder, 'network.sqlite')) })
  const session = new Session()
  const found: CalledFiles[] = []
  try {
    const device = await controller.enroll('laptop')
    session.connect()
    await session.post('Profiler.enable')
    for (const { name, run } of WALKS) {
      await run(controller, device, 1)
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
      await run(controller, device, 2)
      const { result } = await session.post('Profiler.takePreciseCoverage')
      await session.post('Profiler.stopPreciseCoverage')
      const called = result
        .map(({ url, functions }) => ({
          path: url.startsWith('file:') ? relative(root, new URL(url).pathname) : '',
          functions: functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
        }))
        .filter(
          ({ path, functions }) => /^(src\/(?!client)|adapters\/(?!tools\/testing))/.test(path) && functions.length > 0,
        )
        .filter(({ path }) => !OF_THE_CALLER.includes(path))
      const functions = called.reduce((sum, file) => sum + file.functions.length, 0)
      found.push({ name, files: called.map(({ path }) => path).sort(), functions })
    }
    return found
  } finally {
    session.disconnect()
    await controller.close()
    await rm(folder, { recursive: true })
  }
}

if (import.meta.main) {
  for (const { name, files, functions } of await filesOfRequests()) {
    console.log(`${name}: ${files.length} files, ${functions} functions`)
    if (process.argv.includes('--files')) console.log(files.map((path) => `  ${path}`).join('\n'))
  }
}
