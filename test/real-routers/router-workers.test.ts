import { writeFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZiti } from '../../examples/traffic/ziti.ts'
import { endAll, portcullis, type Running } from '../adapters/cli/cli-process.ts'
import {
  digestThrough,
  LinkedNetwork,
  sendThrough,
  serveDigests,
  until,
  untilServed,
} from '../support/linked-network.ts'

const ziti = findZiti()
const MINUTE = 60_000
const MEGABYTE = 1024 * 1024

if (ziti === undefined) {
  console.warn('SKIPPED: no tunneler used a router of several processes: no `ziti` on the path, and ZITI names none')
}

/** `ziti tunnel` keeps order and windows itself, over three sockets, unless it is told not to. */
const WINDOWS = [
  { windows: 'tunnelers keep the windows, over several sockets', flags: [] },
  {
    windows: 'the router keeps the windows',
    flags: ['--sdk-flow-control=false', '--default-connections=1', '--control-connections=0'],
  },
] as const

const SERVICES = ['one', 'two']
/** The worker with the fewest connections gets the next endpoint: the order of clients decides whether they come to the worker of their host. */
const PLACES = [
  { where: 'the same worker', order: SERVICES, isCrossing: false },
  { where: 'the other worker', order: SERVICES.toReversed(), isCrossing: true },
] as const

/** A network with a router of two processes. */
async function openNetwork() {
  const network = await LinkedNetwork.open(ziti ?? '')
  onTestFinished(() => network.close())
  const [port = 0] = await freePorts(1)
  const id = await network.admin.create('/edge-routers', {
    name: 'many',
    roleAttributes: ['all'],
    isTunnelerEnabled: false,
  })
  const { enrollmentJwt } = await network.admin.call('GET', `/edge-routers/${id}`)
  await writeFile(network.file('many.jwt'), String(enrollmentJwt))
  const run = (...args: readonly string[]): Running => portcullis(['router', ...args], { cwd: network.folder })
  expect((await run('enroll', 'many.jwt', '--listen', `127.0.0.1:${port}`).ended).code).toBe(0)
  const running = run('run', '--workers', '2')
  onTestFinished(endAll)
  await running.ready
  await network.untilOnline(id)
  const workers = async () => Object(await network.inspect(id, 'router-workers'))
  return { network, id, running, workers }
}

describe.skipIf(ziti === undefined)('unmodified tunnelers at a router of two processes', () => {
  it.each(WINDOWS.flatMap((windows) => PLACES.map((place) => ({ ...windows, ...place }))))(
    'reach hosts at $where: $windows',
    { timeout: 4 * MINUTE },
    async ({ flags, order, isCrossing }) => {
      const { network, id, workers } = await openNetwork()
      const web = await serveDigests(10 * MEGABYTE)
      onTestFinished(() => web.close())
      const hosted = async () => Object.values(await network.admin.call('GET', '/terminators')).length
      for (const [at, service] of SERVICES.entries()) {
        await network.service(service, web.port, { client: id, host: id })
        await network.tunneler(service, 'host', 0, flags)
        await until(hosted, at + 1, MINUTE)
      }
      const ports = await freePorts(order.length)
      for (const [at, service] of order.entries()) {
        await network.tunneler(service, 'client', ports[at], flags)
        await untilServed(ports[at] ?? 0)
      }
      for (const port of ports) {
        expect(await digestThrough(port)).toBe(web.digest)
        expect(await sendThrough(port, 10 * MEGABYTE)).toBe(true)
        const all = Promise.all(Array.from({ length: 10 }, () => digestThrough(port)))
        const { circuits, crossing } = await workers()
        // Sockets of a tunneler that keeps windows take their time: a later tunneler may come to either worker.
        expect(isCrossing ? crossing : circuits - crossing).toBeGreaterThan(0)
        expect(new Set(await all)).toEqual(new Set([web.digest]))
      }
      await until(async () => (await network.ways()).length, 0, MINUTE)
    },
  )

  it('and behind a deployed router that it is linked with', { timeout: 4 * MINUTE }, async () => {
    const { network, id } = await openNetwork()
    const web = await serveDigests(10 * MEGABYTE)
    onTestFinished(() => web.close())
    const theirs = await network.deployed('theirs', 'both')
    await until(async () => (await network.links()).length > 0, true, 40_000)
    const [there = 0, back = 0] = await freePorts(2)
    await network.service('there', web.port, { client: id, host: theirs.id })
    await network.service('back', web.port, { client: theirs.id, host: id })
    for (const [service, port] of [
      ['there', there],
      ['back', back],
    ] as const) {
      await network.tunneler(service, 'host')
      await network.tunneler(service, 'client', port)
    }
    for (const port of [there, back]) {
      await untilServed(port)
      expect(await digestThrough(port)).toBe(web.digest)
      expect(await sendThrough(port, 10 * MEGABYTE)).toBe(true)
    }
  })
})
