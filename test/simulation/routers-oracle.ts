import type { PlayedRouter } from './played-router.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { World } from './world.ts'

/** Milliseconds within which routers hear of a change, or are cut. */
const HEARD_WITHIN_MS = 2500
const RIGHTS = ['Dial', 'Bind'] as const

/** The first router that goes on while it is disabled, or whose links and circuits to one do. Nothing changed lately, and nothing failed. */
export function shutOutWrongly({ facts, routers, time }: World): string | undefined {
  const isInformed = ({ isConnected, acceptedAt = time.now }: PlayedRouter) =>
    isConnected && time.now - acceptedAt >= HEARD_WITHIN_MS
  const informed = routers.filter(isInformed)
  for (const { id, name } of routers.filter((router) => facts.isShutOut(router.id))) {
    if (informed.some((router) => router.id === id)) return `shut out: ${name} is disabled, and connected`
    for (const other of informed) {
      const link = other.links.get(id)
      // The controllers hear of one that just came, and have it closed.
      if (link?.isUp && time.now - link.upAt >= HEARD_WITHIN_MS)
        return `shut out: ${other.name} keeps its link to ${name}`
      for (const [circuit, { destination }] of other.carried)
        if (destination?.startsWith(`${name}-`)) return `shut out: the circuit ${circuit} goes to ${name}`
    }
  }
  return undefined
}

/** The first router that is connected while it is disabled, at rest. */
export function connectedWrongly({ facts, routers, time }: World): string | undefined {
  const wrong = routers.find(
    ({ id, isConnected, acceptedAt = time.now }) =>
      facts.isShutOut(id) && isConnected && time.now - acceptedAt >= HEARD_WITHIN_MS,
  )
  return wrong && `shut out: ${wrong.name} is disabled, and connected`
}

/** The first model or session of a router, at rest, that is not as the facts or the lists say. */
export async function learntWrongly(world: World, process: SimulatedProcess): Promise<string | undefined> {
  const { facts, routers, time, serviceId } = world
  if (routers.every(({ knowledge }) => knowledge === undefined)) return undefined
  const listed = Object.values(Object(await process.call('GET', '/api-sessions?limit=500')))
  const sessions = new Set(listed.map((one) => String(Object(one).id)))
  await new Promise<void>((resolve) => time.after(HEARD_WITHIN_MS, resolve))
  for (const { name, knowledge, isConnected } of routers) {
    if (knowledge === undefined || !isConnected) continue
    if (knowledge.wrong !== undefined) return `model: ${name} ${knowledge.wrong}`
    for (const identity of facts.roles.keys()) {
      for (const right of RIGHTS) {
        const granted = facts.grants(identity, right, time.now)
        const allowed = knowledge.allows(identity, right, serviceId)
        if (granted !== 'unknown' && allowed !== (granted === 'yes'))
          return `model: ${name} has ${allowed} of ${identity} (${right}), the facts say ${granted}`
      }
    }
    const known = new Set(knowledge.sessions.values())
    const kept = [...known].find((id) => !sessions.has(id))
    if (kept !== undefined) return `sessions: ${name} keeps ${kept}, which is over`
    const missing = [...sessions].find((id) => !known.has(id))
    if (missing !== undefined) return `sessions: ${name} was not told of ${missing}`
  }
  return undefined
}
