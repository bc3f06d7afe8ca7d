import { terminators } from '../support/stored-records.ts'
import type { Act } from './acts.ts'
import { change } from './changes.ts'
import type { Choices } from './choices.ts'
import type { PlayedRouter } from './played-router.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { OPERATOR, type World } from './world.ts'

/** The most milliseconds of a short session. */
const SHORT_SESSION_MS = 1500

/** Acts of routers that keep the data model, and acts upon them. */
export const ROUTER_ACTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'router goes on to follow the model': {
    weight: 6,
    act: (world, choices) => choices.pick(world.routers.filter(({ isConnected }) => isConnected))?.subscribe(),
  },
  'router is disabled or enabled': {
    weight: 5,
    act: (world, choices) => {
      const router = choices.pick(world.routers)
      if (router === undefined) return
      const before = world.facts.shutOut.get(router.id) ?? [false]
      const isDisabled = before.includes(true) ? choices.happens(0.2) : choices.happens(0.8)
      setDisabled(world, choices, router, isDisabled)
    },
  },
  'caller comes and goes': {
    weight: 6,
    act: (world, choices) => {
      const [from, to] = [choices.pick(world.runningProcesses), choices.pick(world.runningProcesses)]
      const lastsMs = choices.happens(0.4) ? 0 : choices.below(SHORT_SESSION_MS)
      if (from !== undefined && to !== undefined)
        world.work(`a caller comes to ${from.name} and goes from ${to.name}`, visit(world, from, to, lastsMs))
    },
  },
  'router removes an address of another': {
    weight: 3,
    act: (world, choices) => {
      const [router, owner] = [drawHostile(world, choices), choices.pick(world.routers)]
      const address = owner && choices.pick([...owner.hosted.keys()])
      if (router === undefined || owner === undefined || address === undefined || router === owner) return
      const [isThere, { changes }] = [isStored(world, address), world.facts]
      const removed = router.remove([address]).then(async (isRemoved) => {
        // Controllers agree to remove an address that is not there, and remove those of a router that lost its right.
        const mayHost =
          world.facts.changes === changes && world.facts.grants(owner.id, 'Bind', world.time.now) === 'yes'
        if (isRemoved && mayHost && owner.hosted.has(address) && (await isThere))
          world.wrong ??= `addresses: ${router.name} removed ${address} of ${owner.name}`
        return isRemoved
      })
      world.work(`${router.name} removes ${address}`, removed)
    },
  },
}

/** An administrator disables or enables a router. */
export function setDisabled(world: World, choices: Choices, { id, name }: PlayedRouter, isDisabled: boolean): void {
  const { shutOut } = world.facts
  const before = shutOut.get(id) ?? [false]
  const what = `${name} is ${isDisabled ? 'disabled' : 'enabled'}`
  change(world, choices, what, ['PATCH', `/edge-routers/${id}`, { disabled: isDisabled }], {
    begins: () => shutOut.set(id, [...before, isDisabled]),
    done: () => {
      shutOut.set(id, [isDisabled])
      if (isDisabled) world.did('router disabled')
    },
    refused: () => shutOut.set(id, before),
  })
}

/** Whether the store has an address. */
function isStored({ shared }: World, address: string): Promise<boolean> {
  return shared.read(async (tx) => (await tx.collection(terminators).get(address)) !== undefined)
}

function drawHostile(world: World, choices: Choices) {
  return choices.pick(world.routers.filter(({ isConnected }) => isConnected))
}

/** A session that begins at one process and ends at another a moment later. */
async function visit(world: World, from: SimulatedProcess, to: SimulatedProcess, lastsMs: number): Promise<void> {
  const token = await from.beginSession(world.devices.get(OPERATOR) ?? '')
  if (lastsMs > 0) await new Promise<void>((resolve) => world.time.after(lastsMs, resolve))
  await to.logOut(token)
  world.did('session ended soon')
}

/** Enables every router, at rest. */
export async function enableRouters(world: World): Promise<void> {
  const [process] = world.runningProcesses
  for (const { id } of world.facts.shutOut.size > 0 ? world.routers : []) {
    await process?.call('PATCH', `/edge-routers/${id}`, { disabled: false })
    world.facts.shutOut.set(id, [false])
  }
}
