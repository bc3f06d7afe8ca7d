import { setTimeout as sleep } from 'node:timers/promises'
import { enrollRouter } from '../adapters/network/router/control/enrolled-router.ts'
import { findZiti } from '../examples/traffic/ziti.ts'
import { LinkedNetwork } from '../test/support/linked-network.ts'
import { byOwnWindows, byPipe, byRouterWindows, type CarriedService, newMember } from './dataplane/carriers.ts'
import { rowsOfCrowd } from './dataplane/crowd.ts'
import { rowsOfEncryption } from './dataplane/encryption.ts'
import { processOf, start } from './dataplane/measured-process.ts'
import { dials, echo, idle, median, type Subject, stream } from './dataplane/workloads.ts'
import type { BenchRow } from './row.ts'

const ROUNDS = 3
const MEGABYTES = 64
const ECHO_MS = 2000
const DIALS = 400
const IDLE_CIRCUITS = 3000
const IDLE_CHANNELS = 300
const KILOBYTE = 1024
const PARTS = ['stream', 'streams', 'echo', 'dials', 'memory', 'holds', 'encryption', 'crowd']

/**
 * The cost of an edge router: ours, a deployed one where `ZITI` names a program, and as the floor a process that pipes TLS to TLS.
 * The same endpoints in this process dial and host through each, in turns. Processor time is that of the process in question.
 */
export async function* benchDataplane(parts: readonly string[] = PARTS): AsyncGenerator<BenchRow> {
  const ziti = findZiti()
  if (ziti === undefined)
    console.warn('no deployed router is beside ours: there is no `ziti` on the path, and ZITI names none')
  const network = await LinkedNetwork.open(ziti ?? '')
  const stops: (() => Promise<void>)[] = [() => network.close()]
  try {
    const own = await ownRouter(network, 'ours')
    const pipe = await byPipe(own.identity)
    stops.unshift(own.stop, () => pipe.close())
    const routers = [
      { name: 'ours', process: own.process, service: await serviceAt(network, 'ours', own.id, own.address) },
    ]
    if (ziti !== undefined) {
      const theirs = await network.deployed('theirs', 'listens')
      const address = await reachedAt(network, theirs.id)
      const service = await serviceAt(network, 'theirs', theirs.id, address)
      routers.push({ name: 'deployed', process: processOf(theirs.process.pid ?? 0), service })
    }
    const [member, other] = [await newMember(network, 'client'), await newMember(network, 'host')]
    stops.unshift(
      () => member.identity.close(),
      () => other.identity.close(),
    )
    const piped: Subject = { name: 'TLS piped', carrier: pipe, process: pipe.process }
    if (parts.includes('memory')) {
      // First, because what was given back is used again unseen.
      const carried = await Promise.all(
        routers.map(async ({ name, process, service }) => ({
          name,
          process,
          carrier: await byRouterWindows(member, service),
        })),
      )
      const channelOf = new Map<Subject, () => Promise<unknown>>(carried.map((one) => [one, one.carrier.channel]))
      const channel = (subject: Subject) => (channelOf.get(subject) ?? (() => subject.carrier.open()))()
      yield* rowsOfMemory('an endpoint with a TLS connection', [...carried, piped], IDLE_CHANNELS, channel)
      yield* rowsOfMemory('a connection, windows kept by the router', carried, IDLE_CIRCUITS, openOne)
      for (const { carrier } of carried) await carrier.close()
      const kept: Subject[] = []
      for (const { name, process, service } of routers) {
        kept.push({ name, process, carrier: await byOwnWindows(member, other, service) })
      }
      yield* rowsOfMemory('a connection, windows kept by endpoints', kept, IDLE_CIRCUITS, openOne)
      for (const { carrier } of kept) await carrier.close()
    }
    if (parts.includes('crowd')) {
      yield* rowsOfCrowd(own.process, member, await serviceAt(network, 'crowded', own.id, own.address))
    }
    if (parts.includes('encryption')) {
      const service = (name: string, isEncrypted: boolean) => serviceAt(network, name, own.id, own.address, isEncrypted)
      const services = { plain: await service('plain', false), encrypted: await service('encrypted', true) }
      yield* rowsOfEncryption([member, other], own.process, services)
    }
    for (const windows of ['the router', 'endpoints'] as const) {
      const subjects: Subject[] = []
      for (const { name, process, service } of routers) {
        const ofRouter = windows === 'the router'
        const carrier = await (ofRouter ? byRouterWindows(member, service) : byOwnWindows(member, other, service))
        subjects.push({ name, carrier, process })
      }
      const all = [...subjects, piped]
      const [ours] = subjects
      if (ours === undefined) continue
      const kept = `windows kept by ${windows}`
      if (parts.includes('stream')) yield* rowsOfStreams(`1 stream, ${kept}`, all, 1)
      if (parts.includes('streams')) yield* rowsOfStreams(`100 streams, ${kept}`, all, 100)
      if (parts.includes('echo')) yield* rowsOfEchoes(`100 streams, ${kept}`, all, 100)
      if (parts.includes('holds')) yield* rowsOfEchoes(`1,000 streams, ${kept}`, subjects, 1000)
      if (parts.includes('dials')) yield* rowsOfDials(kept, subjects)
      for (const { carrier } of subjects) await carrier.close()
    }
  } finally {
    for (const stop of stops) await stop()
  }
}

const openOne = ({ carrier }: Subject) => carrier.open()

/** Runs a workload some times with each in turn; answers the medians of what `figures` reads, by subject. */
async function inTurns<T>(
  subjects: readonly Subject[],
  run: (subject: Subject) => Promise<T>,
): Promise<Map<string, T[]>> {
  const outcomes = new Map<string, T[]>()
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const subject of subjects) {
      const outcome = await run(subject)
      // The first round warms everything up.
      if (round > 0) outcomes.set(subject.name, [...(outcomes.get(subject.name) ?? []), outcome])
    }
  }
  return outcomes
}

async function* rowsOfStreams(what: string, subjects: readonly Subject[], streams: number): AsyncGenerator<BenchRow> {
  const outcomes = await inTurns(subjects, (subject) => stream(subject, streams, MEGABYTES))
  yield row(`processor time of a MB, ${what}`, 'ms', outcomes, ({ cpuMsPerMb }) => cpuMsPerMb, 'at most the deployed')
  yield row(`MB a second, ${what}`, 'MB/s', outcomes, ({ mbPerSecond }) => mbPerSecond)
}

async function* rowsOfEchoes(what: string, subjects: readonly Subject[], streams: number): AsyncGenerator<BenchRow> {
  const outcomes = await inTurns(subjects, (subject) => echo(subject, streams, ECHO_MS))
  yield row(`processor time of an echo of 1 kB, ${what}`, 'ms', outcomes, ({ cpuMs }) => cpuMs)
  yield row(`echoes a second, ${what}`, '/s', outcomes, ({ perSecond }) => perSecond)
  yield row(`echo of 1 kB, mean of the median stream, ${what}`, 'ms', outcomes, ({ medianMs }) => medianMs)
  const holds = (outcomes.get('ours') ?? []).map(({ holdMs = Number.NaN }) => holdMs)
  const longest = row(`echo of 1 kB, longest, ${what}`, 'ms', outcomes, ({ longestMs }) => longestMs)
  yield { ...longest, longestHoldMs: median(holds), target: 'holds under 10 ms' }
}

async function* rowsOfDials(what: string, subjects: readonly Subject[]): AsyncGenerator<BenchRow> {
  const outcomes = await inTurns(subjects, (subject) => dials(subject, DIALS))
  yield row(`processor time of a dial, ${what}`, 'ms', outcomes, ({ cpuMs }) => cpuMs, 'at most the deployed')
  yield row(`dials a second, ${what}`, '/s', outcomes, ({ perSecond }) => perSecond)
}

async function* rowsOfMemory(
  what: string,
  subjects: readonly Subject[],
  count: number,
  open: (subject: Subject) => Promise<unknown>,
): AsyncGenerator<BenchRow> {
  const outcomes = new Map<string, Awaited<ReturnType<typeof idle>>[]>()
  for (const subject of subjects) outcomes.set(subject.name, [await idle(subject.process, count, () => open(subject))])
  const held = outcomes.get('ours')?.[0]?.held ?? Number.NaN
  const resident = row(`idle memory of ${what}`, 'kB', outcomes, (outcome) => outcome.resident / KILOBYTE, '30 kB')
  yield { ...resident, details: `${resident.details}; heap and buffers of ours ${(held / KILOBYTE).toFixed(1)} kB` }
}

function row<T>(
  name: string,
  unit: string,
  outcomes: ReadonlyMap<string, readonly T[]>,
  figure: (outcome: T) => number,
  target?: string,
): BenchRow {
  const values = [...outcomes].map(([subject, all]) => [subject, median(all.map(figure))] as const)
  const of = (subject: string) => values.find(([name]) => name === subject)?.[1]
  const [ceiling, value] = [of('deployed'), of('ours') ?? Number.NaN]
  return {
    name,
    value,
    unit,
    ...(ceiling !== undefined && { ceiling: { name: 'deployed', value: ceiling } }),
    ...(target !== undefined && { target }),
    details: values.map(([subject, one]) => `${subject} ${one.toPrecision(3)} ${unit}`).join(', '),
  }
}

/** Enrolls a router of ours, and runs it in a process of its own. */
export async function ownRouter(network: LinkedNetwork, name: string) {
  const { admin } = network
  const fields = { name, roleAttributes: ['all'], isTunnelerEnabled: false }
  const id = await admin.create('/edge-routers', fields)
  const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
  const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1', 'localhost'])
  const { answer, process, stop } = await start<{ address: string }>('router-process.ts', identity)
  await network.untilOnline(id)
  return { id, identity, address: answer.address, process, stop }
}

/** Where endpoints reach a router, which it tells a moment after it is online. */
async function reachedAt({ admin }: LinkedNetwork, routerId: string): Promise<string> {
  for (;;) {
    const { supportedProtocols } = await admin.call('GET', `/edge-routers/${routerId}`)
    const { tls } = Object(supportedProtocols)
    if (tls !== undefined) return String(tls).replace('tls://', '')
    await sleep(100)
  }
}

/** A service that members host and dial at one router. */
async function serviceAt(
  network: LinkedNetwork,
  name: string,
  routerId: string,
  address: string,
  encryptionRequired = false,
): Promise<CarriedService> {
  const { admin } = network
  const id = await admin.create('/services', { name, encryptionRequired, roleAttributes: [name] })
  const everyone = { semantic: 'AnyOf', identityRoles: ['#member'] }
  for (const type of ['Bind', 'Dial']) {
    await admin.create('/service-policies', { ...everyone, name: `${name} ${type}`, type, serviceRoles: [`@${id}`] })
  }
  const edgeRouterRoles = [`@${routerId}`]
  await admin.create('/edge-router-policies', { ...everyone, name, edgeRouterRoles })
  await admin.create('/service-edge-router-policies', {
    ...{ semantic: 'AnyOf', name, edgeRouterRoles },
    serviceRoles: [`@${id}`],
  })
  return { name, id, address }
}
