import { spawnSync } from 'node:child_process'
import { createTestController } from 'portcullis/testing'
import type { BenchRow } from './row.ts'

const ADDRESS = 'https://controller.test:1280'

/** Creating a controller in memory, the cost of importing it, and reading one service through its HTTP function. */
export async function benchController(): Promise<BenchRow[]> {
  await createTestController()
  const created = await medianOf(50, async () => {
    await createTestController()
  })
  return [
    { name: 'create an in-memory controller with its PKI', value: created, unit: 'ms', target: '<20 ms' },
    coldImport(),
    await readOneService(),
  ]
}

/** Starts bare Node and Node that imports the testing entry, alternately, and takes the difference of the medians. */
function coldImport(): BenchRow {
  const start = (source: string) => {
    const from = performance.now()
    spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
      cwd: new URL('..', import.meta.url),
    })
    return performance.now() - from
  }
  const bare: number[] = []
  const importing: number[] = []
  for (let run = 0; run < 9; run += 1) {
    bare.push(start(''))
    importing.push(start("await import('portcullis/testing')"))
  }
  return {
    name: 'cold import of portcullis/testing as built, beyond bare Node',
    value: median(importing) - median(bare),
    unit: 'ms',
    ceiling: { name: 'bare Node', value: median(bare) },
    target: '<150 ms',
  }
}

async function readOneService(): Promise<BenchRow> {
  const controller = await createTestController()
  const admin = await controller.management.call('POST /authenticate', {
    query: { method: 'password' },
    body: { username: 'admin', password: 'admin-password' },
  })
  const management = controller.management.withToken(admin.data.token)
  const { data } = await management.call('POST /services', { body: { name: 'bench' } })
  const headers = { 'zt-session': admin.data.token }
  const url = `${ADDRESS}/edge/management/v1/services/${data.id}`
  const text = await (await controller.fetch(new Request(url, { headers }))).text()
  const read = await perSecond(async () => {
    const response = await controller.fetch(new Request(url, { headers }))
    await response.text()
  })
  const bare = await perSecond(async () => {
    const request = new Request(url, { headers })
    const response = new Response(text, {
      headers: { 'content-type': request.headers.get('accept') ?? 'application/json' },
    })
    await response.text()
  })
  return {
    name: 'GET one service in process',
    value: read,
    unit: '/s',
    ceiling: { name: 'bare Request and Response', value: bare },
  }
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  for (let run = 0; run < 500; run += 1) await work()
  const from = performance.now()
  let count = 0
  while (performance.now() - from < 1000) {
    await work()
    count += 1
  }
  return (count / (performance.now() - from)) * 1000
}

async function medianOf(runs: number, work: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run += 1) {
    const from = performance.now()
    await work()
    times.push(performance.now() - from)
  }
  return median(times)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
