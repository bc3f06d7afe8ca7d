import { entriesOf } from './evidence.ts'
import type { Right } from './known-facts.ts'
import type { PlayedRouter } from './played-router.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { OPERATOR, SERVICE, type World } from './world.ts'

/** Milliseconds after the end of rights within which their holder is shown without them. */
const ENDED_WITHIN_MS = 2000

/**
 * Work that takes a right of an identity. Nobody is let in whose rights had ended when the work began, whatever fails meanwhile, also where
 * nothing was written yet of the end of a term.
 */
export async function judged<T>(
  world: World,
  { identity, right, what }: { readonly identity: string; readonly right: Right; readonly what: string },
  work: Promise<T>,
  isLetIn: (answer: T) => boolean,
): Promise<T> {
  const { facts, time } = world
  const [from, { changes }] = [time.now, facts]
  // A change whose answer is still to come may be decided behind the work.
  const mightBegin = facts.mayHave(identity, right, { from, to: from })
  const answer = await work
  const within = { from, to: time.now }
  if (isLetIn(answer) && facts.changes === changes && !mightBegin && !facts.mayHave(identity, right, within))
    world.wrong ??= `term: ${what} (${right}) was let in, which the facts did not grant when it began`
  return answer
}

/** Work of a router. It is refused where the router was disabled when it began, by whichever process. */
async function notShutOut<T>(
  world: World,
  { id, name }: PlayedRouter,
  work: Promise<T>,
  isLetIn: (answer: T) => boolean,
): Promise<T> {
  const { facts } = world
  const [isShutOut, { changes }] = [facts.isShutOut(id), facts]
  const answer = await work
  if (isShutOut && facts.changes === changes && isLetIn(answer))
    world.wrong ??= `shut out: ${name} was disabled when it asked, and was served`
  return answer
}

/** A router dials by its own identity. */
export function routerDials(world: World, router: PlayedRouter): void {
  const asking = world.processNamed(router.home)?.running
  const asked = router.dial(SERVICE).then((answer) => {
    const { circuitId } = answer
    if (circuitId !== undefined) world.dialers.set(circuitId, router.id)
    if (circuitId !== undefined && asking !== undefined) world.laidBy.set(circuitId, asking)
    return answer
  })
  const by = { identity: router.id, right: 'Dial', what: router.name } as const
  const isLetIn = ({ circuitId }: Awaited<typeof asked>) => circuitId !== undefined
  world.work(`${router.name} dials`, notShutOut(world, router, judged(world, by, asked, isLetIn), isLetIn))
}

/** A router hosts by its own identity. */
export function routerHosts(world: World, router: PlayedRouter): void {
  const by = { identity: router.id, right: 'Bind', what: router.name } as const
  const isLetIn = (isHosted: boolean) => isHosted
  const asked = judged(world, by, router.host(world.serviceId), isLetIn)
  world.work(`${router.name} hosts`, notShutOut(world, router, asked, isLetIn))
}

/** The operator calls an API that takes its rights. */
export function operatorWorks(world: World, process: SimulatedProcess): void {
  const { facts, time } = world
  const begun = { from: time.now, changes: facts.changes }
  const isOver = !facts.mayOperate(begun)
  const work = process.callAs(world.devices.get(OPERATOR) ?? '', 'GET', '/identities?limit=1').then(() => {
    if (isOver && facts.changes === begun.changes)
      world.wrong ??= 'rights: the operator was let in, whose rights had ended when it began'
    return 'let in'
  })
  world.work(`the operator works at ${process.name}`, work)
}

/** The first right that somebody holds by the lists of an API, and that the facts do not grant: sessions, administrators. */
export async function heldWrongly(world: World, process: SimulatedProcess): Promise<string | undefined> {
  const { facts, time, devices, serviceId } = world
  const list = async (path: string) => Object.values(Object(await process.call('GET', path))).map((one) => Object(one))
  for (const { id, identityId, type, service } of await list('/sessions?limit=500')) {
    if (service?.id === serviceId && facts.grants(String(identityId), type, time.now) === 'no')
      return `access: the session ${id} of ${identityId} is there without a right (${type})`
  }
  const operator = Object(await process.call('GET', `/identities/${devices.get(OPERATOR)}`))
  if (operator.isAdmin && !facts.mayOperate({ from: time.now - ENDED_WITHIN_MS }))
    return 'rights: the operator is shown as an administrator after the end of its rights'
  return undefined
}

/** The faults, at rest, of requests for access and of rights with an end. */
export async function decidedWrongly(world: World, process: SimulatedProcess): Promise<string | undefined> {
  const { facts, time, requests } = world
  const entries = requests.size === 0 ? [] : await entriesOf(process)
  for (const { id, decided, possible } of requests.values()) {
    if (decided.length > 1) return `requests: ${id} was decided ${decided.length} times, as ${decided}`
    const { state } = Object(await process.call('GET', `/portcullis/v1/access-requests/${id}`))
    const [last] = decided
    if (last === undefined ? !possible.has(state) : last !== state)
      return `requests: ${id} is ${state}, answered was ${last}`
    const { length } = entries.filter(({ type, text }) => type === 'entity.created' && text.includes(`(request ${id})`))
    if (length !== (state === 'approved' ? 1 : 0))
      return `requests: ${id} is ${state}, and ${length} policies were made for it`
  }
  const isLetIn = await process.callAs(world.devices.get(OPERATOR) ?? '', 'GET', '/identities?limit=1').then(
    () => true,
    () => false,
  )
  if (!isLetIn && facts.surelyOperates(time.now)) return 'rights: the operator has its rights, and is refused'
  if (isLetIn && !facts.mayOperate({ from: time.now })) return 'rights: the operator has no rights, and is let in'
  return undefined
}
