// Runs in a process of each tree, by the names of its package: dials, bytes and echoes over a router in memory, and forks.
// Every message names a workload and how often it is done; the answer is the processor time, in ms, or that the tree has no such thing.
import type { Duplex } from 'node:stream'
import { createTestController } from 'portcullis/testing'

/** A message of the parent. */
export interface TreeTask {
  readonly work: TreeWork
  readonly count: number
}

/** Each workload that runs without a server. */
export type TreeWork = 'create' | 'fork' | 'dial' | 'echo' | 'megabyte'

/** The answer to a task. */
export interface TreeAnswer {
  readonly cpuMs?: number
  readonly absent?: string
}

const MEGABYTE = 1_048_576
const PIECE = Buffer.alloc(65_536, 7)
const MODEL = {
  services: [{ name: 'echo', encryptionRequired: true }],
  identities: [
    { name: 'laptop', type: 'Device' as const, isAdmin: false },
    { name: 'server', type: 'Service' as const, isAdmin: false },
  ],
  servicePolicies: (['Dial', 'Bind'] as const).map((type) => ({
    ...{ name: type, type, semantic: 'AnyOf' as const, identityRoles: ['#all'], serviceRoles: ['#all'] },
  })),
}

const seeded = await createTestController({ model: { identities: MODEL.identities } })
await seeded.enroll('laptop')
let routed: ReturnType<typeof openRouted> | undefined

/** Begun with the first workload that needs it: trees of before have no router. */
function withRouter() {
  routed ??= openRouted()
  return routed
}

async function openRouted() {
  const net = await createTestController({ router: true, model: MODEL })
  await net.as('server').host('echo', (connection: Duplex) => connection.pipe(connection))
  return { net, open: () => net.as('laptop').dial('echo') }
}

const WORKS: Record<TreeWork, (count: number) => Promise<void>> = {
  async create(count) {
    for (let made = 0; made < count; made += 1) await (await createTestController()).close()
  },
  async fork(count) {
    for (let made = 0; made < count; made += 1) await (await seeded.fork()).close()
  },
  async dial(count) {
    const { open } = await withRouter()
    for (let made = 0; made < count; made += 1) (await open()).destroy()
  },
  async echo(count) {
    await overConnection(async (answered) => {
      for (let sent = 0; sent < count; sent += 1) await answered(PIECE.subarray(0, 1024))
    })
  },
  async megabyte(count) {
    await overConnection(async (answered) => {
      for (let sent = 0; sent < count * MEGABYTE; sent += PIECE.length) await answered(PIECE)
    })
  },
}

/** Sends over one connection; what is sent is answered when as many bytes came back. */
async function overConnection(work: (answered: (bytes: Buffer) => Promise<void>) => Promise<void>): Promise<void> {
  const { open } = await withRouter()
  const connection = await open()
  let missing = 0
  let done: () => void = () => undefined
  connection.on('data', (bytes: Buffer) => {
    missing -= bytes.length
    if (missing === 0) done()
  })
  await work(
    (bytes) =>
      new Promise((resolve) => {
        missing += bytes.length
        done = resolve
        connection.write(bytes)
      }),
  )
  connection.destroy()
}

process.on('message', async ({ work, count }: TreeTask) => {
  const answer = (told: TreeAnswer) => process.send?.(told)
  const from = process.cpuUsage()
  try {
    await WORKS[work](count)
    const { user, system } = process.cpuUsage(from)
    answer({ cpuMs: (user + system) / 1000 })
  } catch (error) {
    answer({ absent: String(error) })
  }
})
process.on('disconnect', () => process.exit(0))
process.send?.({})
