import { shownWrongly } from './attributes-at-rest.ts'
import { wrongEvidence } from './evidence.ts'
import type { Right } from './known-facts.ts'
import { isLeftBehind, ownLinksWrong } from './own-links.ts'
import { decidedWrongly, heldWrongly } from './rights-held.ts'
import { learntWrongly, shutOutWrongly } from './routers-oracle.ts'
import { runningWrongly } from './running-router.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** Milliseconds for which a circuit may run that the facts do not grant, while nothing fails. */
const CUT_WITHIN_MS = 2000
/** Milliseconds after a fault within which that bound does not hold: a killed process is believed for 30 s. */
const AFTER_FAULTS_MS = 60_000
/** Milliseconds within which every wait ends. */
const LONGEST_WAIT_MS = 60_000

/** The first thing that is wrong after a step, with the name of its oracle. */
export function wrongNow(world: World): string | undefined {
  return world.wrong ?? disorder(world) ?? endless(world) ?? ungranted(world)
}

/** The same of the lists of an API, which are asked now and then. */
export async function wrongInLists(world: World): Promise<string | undefined> {
  const [process] = world.runningProcesses
  return process === undefined || !isQuiet(world) ? undefined : heldWrongly(world, process)
}

/** Whether everything that follows from a change has followed, and no fault delays it. */
function isQuiet({ facts, time, faultAt, isChanging }: World): boolean {
  return !isChanging && time.now - facts.changedAt >= CUT_WITHIN_MS && time.now - faultAt >= AFTER_FAULTS_MS
}

/** Bytes come back once and in order. */
function disorder({ streams }: World): string | undefined {
  const wrong = streams.find(({ sent, received }) => !sent.startsWith(received))
  return wrong && `bytes: a stream of ${wrong.client} got ${wrong.received.length} bytes that are not the sent ones`
}

function endless({ waiting, time }: World): string | undefined {
  const late = [...waiting.values()].find(({ since }) => time.now - since > LONGEST_WAIT_MS)
  return late && `wait: ${late.what} waits for ${time.now - late.since} ms`
}

/** No circuit runs that the facts do not grant. A router that comes back first hears what was cut while it was away. */
function ungranted(world: World): string | undefined {
  const { time, routers, streams, devices, running } = world
  if (!isQuiet(world)) return undefined
  const judged = streams.filter(
    (stream) => !stream.isOver && (stream.at !== running?.name || isCutInTime(world)) && !isLeftBehind(world, stream),
  )
  const kept = judged.find(({ client }) => isRefused(world, devices.get(client), 'Dial'))
  if (kept !== undefined) return `access: a stream of ${kept.client} runs without a right to dial`
  const informed = routers.filter(
    ({ isConnected, acceptedAt = time.now }) => isConnected && time.now - acceptedAt >= CUT_WITHIN_MS,
  )
  const carried = informed.flatMap((router) => [...router.carried]).filter(([id]) => !isLeft(world, id))
  for (const [id, { destination }] of carried) {
    const host = routers.find(({ name }) => destination?.startsWith(`${name}-`))
    if (isRefused(world, host?.id, 'Bind')) return `access: the circuit ${id} goes to ${host?.name}, which may not host`
  }
  const circuitIds = carried.map(([id]) => id)
  return ungrantedCircuits(world, circuitIds) ?? shutOutWrongly(world)
}

/** A router of a program of its own hears of a cut from every controller. */
function isCutInTime({ running, time, runningProcesses }: World): boolean {
  const since = running?.connectedSince(runningProcesses.length)
  return since !== undefined && time.now - since >= CUT_WITHIN_MS
}

/** A circuit that a killed process laid is closed when its routers ask whose it is, which they do when it is quiet. */
function isLeft({ laidBy, faults }: World, circuitId: string): boolean {
  const isKilled = faults.has('process killed') || faults.has('process killed after a commit')
  return isKilled && laidBy.get(circuitId)?.isAlive !== true
}

function isRefused({ facts, time }: World, identity: string | undefined, right: Right): boolean {
  return identity !== undefined && facts.grants(identity, right, time.now) === 'no'
}

function ungrantedCircuits(world: World, circuitIds: readonly string[]): string | undefined {
  const { dialers } = world
  const wrong = circuitIds.find((id) => isRefused(world, dialers.get(id), 'Dial'))
  return wrong && `access: the circuit ${wrong} of ${dialers.get(wrong)} runs without a right to dial`
}

interface ListedCircuit {
  readonly id: string
  readonly routers: readonly string[]
}

/** The first thing that is wrong at rest, when no fault is left and routers have confirmed what they carry. */
export async function wrongAtRest(world: World): Promise<string | undefined> {
  const [first] = world.runningProcesses
  if (first === undefined || world.runningProcesses.length < world.processes.length)
    return 'rest: a process did not start again'
  const circuits = await circuitsOf(first)
  return (
    world.wrong ??
    disorder(world) ??
    ungrantedCircuits(
      world,
      circuits.map(({ id }) => id),
    ) ??
    sameCircuits(world, circuits) ??
    (await sameLinks(world, first)) ??
    (await samePresence(world, first)) ??
    (await keptWrites(world, first)) ??
    (await heldWrongly(world, first)) ??
    (await decidedWrongly(world, first)) ??
    (await shownWrongly(world)) ??
    (await learntWrongly(world, first)) ??
    (await runningWrongly(world, first)) ??
    (await worksAsGranted(world)) ??
    (await explainedWrongly(world, first)) ??
    (await isWhole(first)) ??
    (await wrongEvidence(world, first)) ??
    (await lockedOut(world, first))
  )
}

async function circuitsOf(process: SimulatedProcess): Promise<readonly ListedCircuit[]> {
  const listed = Object.values(Object(await process.call('GET', '/fabric/v1/circuits?limit=500')))
  return listed.map((circuit) => ({
    id: String(Object(circuit).id),
    routers: Object.values(Object(Object(circuit).path).nodes).map((node) => String(Object(node).id)),
  }))
}

function sameCircuits({ routers }: World, circuits: readonly ListedCircuit[]): string | undefined {
  for (const router of routers) {
    const meant = new Set(circuits.filter((circuit) => circuit.routers.includes(router.id)).map(({ id }) => id))
    for (const id of router.carried.keys()) if (!meant.has(id)) return `circuits: ${router.name} still carries ${id}`
    for (const id of meant) if (!router.carried.has(id)) return `circuits: ${router.name} does not carry ${id}`
  }
  return undefined
}

async function sameLinks(world: World, process: SimulatedProcess): Promise<string | undefined> {
  const { routers } = world
  const listed = Object.values(Object(await process.call('GET', '/fabric/v1/links?limit=500')))
  const isPlayed = (link: unknown) => routers.some(({ id }) => id === Object(Object(link).sourceRouter).id)
  const known = listed.flatMap((link) => (isPlayed(link) ? String(Object(link).id) : [])).sort()
  const meant = routers
    .flatMap(({ links }) => [...links.values()].filter(({ isUp }) => isUp).map(({ id }) => id))
    .sort()
  if (known.join() !== meant.join()) return `links: the controller knows ${known}, the routers have ${meant}`
  return ownLinksWrong(world, listed)
}

async function samePresence({ routers }: World, process: SimulatedProcess): Promise<string | undefined> {
  for (const { id, name, isConnected } of routers) {
    const router = Object(await process.call('GET', `/edge-routers/${id}`))
    if (router.isOnline !== isConnected)
      return `presence: ${name} is ${isConnected ? '' : 'not '}connected, and shown otherwise`
  }
  return undefined
}

/** An acknowledged change is there, and one whose answer was lost is there or not. */
async function keptWrites({ facts }: World, process: SimulatedProcess): Promise<string | undefined> {
  for (const [id, readings] of facts.roles) {
    const identity = Object(await process.call('GET', `/identities/${id}`))
    const roles = [identity.roleAttributes ?? []].flat().sort().join()
    if (!readings.some((reading) => [...reading].sort().join() === roles))
      return `writes: ${id} has the roles ${roles}, acknowledged were ${readings.at(-1)}`
    const enabled = facts.enabled.get(id) ?? [true]
    if (!enabled.includes(identity.disabled !== true))
      return `writes: ${id} is ${identity.disabled ? 'disabled' : 'enabled'} against the last answer`
  }
  return undefined
}

/** A router dials exactly where the facts let it, when a host is there. */
async function worksAsGranted(world: World): Promise<string | undefined> {
  const { facts, time, routers, serviceId, manner } = world
  const mayHost = (id: string) => facts.grants(id, 'Bind', time.now) === 'yes'
  const host = routers.find(({ id, isConnected }) => isConnected && mayHost(id))
  if (host === undefined) return undefined
  await host.host(serviceId)
  // A term may end just now.
  if (host.hosted.size === 0) return mayHost(host.id) ? `works: ${host.name} may host, and is refused` : undefined
  const isGuestTried = manner.hasGrants || manner.hasClaims
  for (const dialer of isGuestTried ? routers.filter(({ isConnected }) => isConnected) : [host]) {
    const granted = facts.grants(dialer.id, 'Dial', time.now)
    if (granted === 'unknown') continue
    const { circuitId, refused } = await dialer.dial('web')
    const isAsBefore = facts.grants(dialer.id, 'Dial', time.now) === granted && mayHost(host.id)
    if (granted === 'yes' && circuitId === undefined && isAsBefore)
      return `works: ${dialer.name} may dial, and is refused: ${refused}`
    if (granted === 'no' && circuitId !== undefined) return `works: ${dialer.name} may not dial, and got ${circuitId}`
  }
  return undefined
}

/** Explanations say of every identity what the facts say. */
async function explainedWrongly(
  { facts, time, serviceId }: World,
  process: SimulatedProcess,
): Promise<string | undefined> {
  for (const identity of facts.roles.keys()) {
    for (const type of ['Dial', 'Bind'] as const) {
      const granted = facts.grants(identity, type, time.now)
      const question = { identity, service: serviceId, type }
      const { allowed } = Object(await process.call('POST', '/portcullis/v1/explain', question))
      if (granted !== 'unknown' && allowed !== (granted === 'yes'))
        return `explain: says ${allowed} of ${identity} (${type}), the facts say ${granted}`
    }
  }
  return undefined
}

/** Every router is let in with the certificate that it has, whatever keys were changed. */
async function lockedOut({ routers }: World, process: SimulatedProcess): Promise<string | undefined> {
  for (const router of routers) {
    if (!(await router.connect(process))) return `enroll: ${router.name} is let in no more`
  }
  const listed = Object.values(Object(await process.call('GET', '/edge-routers?limit=500')))
  const offline = listed.find((router) => Object(router).isOnline !== true)
  return offline === undefined ? undefined : `enroll: ${Object(offline).name} does not come back`
}

/** The integrity check finds nothing. */
async function isWhole(process: SimulatedProcess): Promise<string | undefined> {
  await process.call('POST', '/database/check-data-integrity')
  const found = Object(await process.call('GET', '/database/data-integrity-results'))
  const results = Object.values(Object(found.results))
  return results.length === 0 ? undefined : `integrity: ${JSON.stringify(results[0])}`
}
