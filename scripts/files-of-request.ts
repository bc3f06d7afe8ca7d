// Counts the files and functions of the product that one request runs through, by the coverage that V8 keeps: the second run of
// each, so that what is loaded and made once does not count. `npm run files-of-request`, with `--files` to name them.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { sqliteStorage } from 'portcullis/kysely'
import type { NetworkModel } from 'portcullis/model'
import type { ServiceConnection } from 'portcullis/sdk'
import {
  createTestController,
  type RoutedTestController,
  type TestController,
  type TestDevice,
} from 'portcullis/testing'

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

/** A service that one identity hosts and another dials. */
const MODEL: NetworkModel = {
  services: [{ name: 'echo' }],
  identities: [
    { name: 'server', type: 'Service', roleAttributes: ['servers'] },
    { name: 'client', type: 'Device', roleAttributes: ['clients'] },
  ],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#clients'], serviceRoles: ['#all'] },
    { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['#servers'], serviceRoles: ['#all'] },
  ],
}

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
  const routed = await createTestController({
    router: true,
    model: MODEL,
    storage: await sqliteStorage(join(folder, 'routed.sqlite')),
  })
  const session = new Session()
  try {
    const device = await controller.enroll('laptop')
    await routed.as('server').host('echo', (connection: ServiceConnection) => connection.pipe(connection))
    session.connect()
    await session.post('Profiler.enable')
    const found: CalledFiles[] = []
    for (const { name, run } of WALKS)
      found.push(await coverage(session, name, (round) => run(controller, device, round)))
    found.push(await coverage(session, 'a dial, a byte and its end', () => exchangeByte(routed)))
    return found
  } finally {
    session.disconnect()
    await Promise.all([controller.close(), routed.close()])
    await rm(folder, { recursive: true })
  }
}

/** Dials the service, sends a byte, waits for it, and closes the connection. */
async function exchangeByte(controller: RoutedTestController): Promise<void> {
  const connection = await controller.as('client').dial('echo')
  connection.write('a')
  await once(connection, 'data')
  connection.end()
  await once(connection.resume(), 'close')
}

async function coverage(
  session: Session,
  name: string,
  run: (round: number) => Promise<unknown>,
): Promise<CalledFiles> {
  await run(1)
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await run(2)
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
  return { name, files: called.map(({ path }) => path).sort(), functions }
}

if (import.meta.main) {
  for (const { name, files, functions } of await filesOfRequests()) {
    console.log(`${name}: ${files.length} files, ${functions} functions`)
    if (process.argv.includes('--files')) console.log(files.map((path) => `  ${path}`).join('\n'))
  }
}
