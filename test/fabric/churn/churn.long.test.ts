import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { randomFrom } from '../../support/seeded-random.ts'
import { usedBytes } from '../../support/used-bytes.ts'
import { joinedProcesses, tunnelNetwork } from '../control/fabric-world.ts'
import { ChurningRouter } from './churning-routers.ts'

/** `npm run test:fabric` churns for an hour, `npm run test:slow` for a minute. */
const MINUTES = Number(process.env.PORTCULLIS_CHURN_MINUTES ?? '1')
const SIZE =
  MINUTES >= 10 ? { routers: 50, terminators: 5000, circuits: 2000 } : { routers: 20, terminators: 200, circuits: 200 }
const SERVICES = 8
const LINKS_OF_A_ROUTER = 4
const STEPS_OF_A_ROUND = 300
const AT_ONCE = 10
const PAGE = 500
const SECOND = 1000
/** Seconds of the controllers' clocks within which nothing stale is left: a killed process is believed for 30. */
const PATIENCE_SECONDS = 120
const MIB = 1_048_576
/** The audit trail is data: at its bound it takes what it took before. */
const TRAIL_BYTES = MIB
/** Part of the memory by which the last third of the rounds may be above the one before: circuits come and go. */
const LEEWAY = 0.1
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined }
const PROCESSES = ['one', 'two', 'three'] as const

it('routers, links, hosts and controllers come and go, and nothing stays behind', {
  // A busy machine takes minutes to begin and to end.
  timeout: (2 * MINUTES + 5) * 60_000,
}, async () => {
  const random = randomFrom(Number(process.env.PORTCULLIS_CHURN_SEED ?? '1'))
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  const { processOf, elapse, restart } = await joinedProcesses(PROCESSES, {
    audit: { mostBytes: TRAIL_BYTES },
    logger: SILENT,
  })
  const count = { dialed: 0, refused: 0, ended: 0, linksCut: 0, routersAway: 0, restarts: 0, rounds: 0 }

  const first = processOf('one')
  const { dial, serviceId } = await tunnelNetwork(first)
  const services = [{ id: serviceId, name: 'web' }]
  for (let at = 1; at < SERVICES; at += 1) {
    const name = `web-${at}`
    const id = await first.create('/services', { name, encryptionRequired: false, roleAttributes: ['web'] })
    services.push({ id, name })
  }
  const routers: ChurningRouter[] = []
  for (let at = 0; at < SIZE.routers; at += 1) {
    const name = `r${at}`
    routers.push(new ChurningRouter(name, await first.enroll(name, { isTunnelerEnabled: true })))
  }
  // Each router knows one process alone.
  const homeOf = (router: ChurningRouter) => processOf(PROCESSES[routers.indexOf(router) % PROCESSES.length] ?? 'one')
  const connect = (router: ChurningRouter) => router.connect(homeOf(router))
  for (const router of routers) {
    expect(await connect(router)).toBe(true)
    for (let at = 0; at < LINKS_OF_A_ROUTER; at += 1) {
      const target = pick(routers)
      if (target !== undefined && target !== router) router.link(target.id)
    }
  }
  // Each router hosts one service, so that circuits to the others pass links.
  const host = async () => {
    const router = pick(routers.filter(({ isConnected }) => isConnected))
    const service = router && services[routers.indexOf(router) % SERVICES]
    if (service !== undefined) await router?.host(service.id)
  }
  // The processes learn of each other.
  await elapse(3 * SECOND)
  for (let at = 0; at < SIZE.terminators; at += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, host))

  const openCircuits = async () => {
    const listed: unknown[] = []
    // A page has 500 at most.
    for (let page: unknown[] | undefined; page === undefined || page.length === PAGE; listed.push(...page)) {
      const filter = encodeURIComponent(`true sort by id skip ${listed.length} limit ${PAGE}`)
      page = Object.values(await processOf('one').call('GET', `/fabric/v1/circuits?filter=${filter}`))
    }
    return listed.map((circuit) => ({
      id: String(Object(circuit).id),
      routers: Object.values(Object(circuit).path.nodes).map((node) => String(Object(node).id)),
    }))
  }
  /** Routers that are back say what they carry; then they carry what the controllers know, and nothing else. */
  const settle = async () => {
    for (const router of routers) if (!router.isConnected) await connect(router)
    await elapse(3 * SECOND)
    let differences: readonly string[] = []
    for (let second = 0; second < PATIENCE_SECONDS; second += 1) {
      await elapse(SECOND)
      for (const router of routers) router.confirm()
      // Messages that were sent arrive meanwhile.
      await sleep(100)
      differences = await differencesNow()
      if (differences.length === 0) return
    }
    throw new Error(`after ${PATIENCE_SECONDS} s: ${differences.join('; ')}`)
  }
  const differencesNow = async () => {
    const open = new Map((await openCircuits()).map((circuit) => [circuit.id, circuit.routers]))
    const missing = [...open].flatMap(([circuitId, path]) =>
      routers
        .filter(({ id, carried }) => path.includes(id) && !carried.has(circuitId))
        .map(({ name, id }) => `${name} (${path.indexOf(id) + 1} of ${path.length}) lacks ${circuitId}`),
    )
    const stale = routers.flatMap(({ id, name, carried }) =>
      [...carried]
        .filter((circuitId) => open.get(circuitId)?.includes(id) !== true)
        .map((circuitId) => `${name} still has ${circuitId}, which is ${open.has(circuitId) ? 'elsewhere' : 'over'}`),
    )
    return [...missing, ...stale]
  }
  /** Dials until there are as many circuits as there are to be: restarts take those of a process. */
  const fill = async () => {
    const missing = SIZE.circuits - (await openCircuits()).length
    for (let at = 0; at < missing; at += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, dialAny))
    return (await openCircuits()).length
  }
  const dialAny = async () => {
    const router = pick(routers.filter(({ isConnected }) => isConnected))
    if (await router?.dial(pick(services)?.name ?? '')) count.dialed += 1
    else count.refused += 1
  }
  const step = async () => {
    const up = routers.filter(({ isConnected }) => isConnected)
    const router = pick(up)
    const chance = random()
    if (router === undefined) return
    if (chance < 0.5) {
      await dialAny()
    } else if (chance < 0.85) {
      const id = pick([...router.carried])
      if (id !== undefined) router.end(random() < 0.5 ? 'ingress' : 'egress', id)
      count.ended += 1
    } else if (chance < 0.92) {
      const target = pick([...router.links.keys()])
      if (target === undefined) return
      if (random() < 0.5) router.cut(target)
      else router.link(target)
      count.linksCut += 1
    } else if (chance < 0.95) {
      const address = pick([...router.hosted])
      if (address !== undefined) await router.unhost(address)
      await host()
    } else if (chance < 0.98) {
      router.disconnect()
      count.routersAway += 1
    } else {
      const away = pick(routers.filter(({ isConnected }) => !isConnected))
      if (away !== undefined) await connect(away)
    }
  }

  const heaps: number[] = []
  const filled: number[] = []
  const until = Date.now() + MINUTES * 60_000
  while (Date.now() < until || count.rounds < 3) {
    filled.push(await fill())
    for (let at = 0; at < STEPS_OF_A_ROUND; at += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, step))
      await elapse(100)
    }
    if (count.rounds % 3 === 1) {
      await restart(pick(PROCESSES) ?? 'one')
      count.restarts += 1
    }
    await settle()
    count.rounds += 1
    for (const name of PROCESSES) processOf(name).forgetEvents()
    heaps.push(usedBytes() / MIB)
    if (MINUTES >= 10) console.log(`${JSON.stringify(count)}; ${heaps.at(-1)?.toFixed(1)} MiB in use`)
  }
  // Rights that are taken take everything.
  await processOf('two').call('DELETE', `/service-policies/${dial}`)
  await settle()
  expect(await openCircuits()).toEqual([])
  expect(routers.map(({ carried }) => carried.size)).toEqual(routers.map(() => 0))
  console.log(
    `churn: ${JSON.stringify(count)}; ${Math.min(...filled)} circuits at least when a round begins; in use after each, collected, MiB: ${heaps.map(Math.round).join(' ')}`,
  )
  expect(Math.min(...filled)).toBeGreaterThan(SIZE.circuits / 2)
  const third = Math.floor(heaps.length / 3)
  const least = (from: number, to: number) => Math.min(...heaps.slice(from, to))
  expect(least(-third, heaps.length)).toBeLessThan(least(-2 * third, -third) * (1 + LEEWAY))
})
