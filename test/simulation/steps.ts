import type { Choices } from './choices.ts'
import type { AskedChange } from './evidence.ts'
import { key, Refused } from './simulated-process.ts'
import { SERVICE, type World } from './world.ts'

/** Acts of a run: each draws its particulars from choices of its own, so that a script without its neighbours does the same. */
export type Act = (world: World, choices: Choices) => void

const ATTRIBUTES = ['dials', 'hosts']
const LONG_MS = 3000
const START_AGAIN_MS = 1000
/** The type of a message that a controller reads, with a body that it cannot read. */
const HOSTILE_TYPE = 1001

/** One act of the network's people and programs. */
export const ACTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'router dials': {
    weight: 14,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected }) => isConnected))
      if (router === undefined) return
      const dial = router.dial(SERVICE).then((answer) => {
        if (answer.circuitId !== undefined) world.dialers.set(answer.circuitId, router.id)
        return answer
      })
      world.work(`${router.name} dials`, dial)
    },
  },
  'router hosts': {
    weight: 6,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected, hosted }) => isConnected && hosted.size < 3))
      if (router !== undefined) world.work(`${router.name} hosts`, router.host(world.serviceId))
    },
  },
  'router ends hosting': {
    weight: 2,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected, hosted }) => isConnected && hosted.size > 0))
      const address = router && choices.pick([...router.hosted.keys()])
      if (router && address) world.work(`${router.name} ends ${address}`, router.unhost(address))
    },
  },
  'router ends a circuit': {
    weight: 6,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected, carried }) => isConnected && carried.size > 0))
      const id = router && choices.pick([...router.carried.keys()])
      const side = choices.happens(0.5) ? 'ingress' : 'egress'
      if (router && id) router.end(side, id)
    },
  },
  'router links': {
    weight: 5,
    act: (world, choices) => {
      const [from, to] = [choices.pick(world.routers), choices.pick(world.routers)]
      if (from?.isConnected && to !== undefined && from !== to) from.link(to)
    },
  },
  'link breaks': {
    weight: 3,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected }) => isConnected))
      const target = router && choices.pick([...router.links.keys()])
      if (router && target) router.cut(target)
    },
  },
  'router confirms': {
    weight: 3,
    act: (world, choices) => choices.pick(world.routers)?.confirm(),
  },
  'router leaves': {
    weight: 2,
    act: (world, choices) => {
      const router = choices.pick(world.routers)
      world.note(`${router?.name} leaves`)
      router?.disconnect()
    },
  },
  'router comes': {
    weight: 6,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected }) => !isConnected))
      const process = choices.pick(world.runningProcesses)
      if (router && process && !world.wires.refused.has(key(router.name, process.name)))
        world.work(`${router.name} comes to ${process.name}`, router.connect(process))
    },
  },
  'roles change': {
    weight: 5,
    act: (world, choices) => {
      const id = choices.pick([...world.facts.roles.keys()]) ?? ''
      // The mark makes each change different from the roles before.
      const mark = `m${choices.uuid()}`
      const roles = [...ATTRIBUTES.filter(() => choices.happens(0.7)), mark]
      const before = world.facts.roles.get(id) ?? []
      const asked = ['entity.updated', mark] as const
      change(world, choices, `roles of ${id} are ${roles}`, ['PATCH', `/identities/${id}`, { roleAttributes: roles }], {
        asked,
        begins: () => world.facts.roles.set(id, [...before, roles]),
        done: () => world.facts.roles.set(id, [roles]),
        refused: () => world.facts.roles.set(id, before),
      })
    },
  },
  'policy goes': {
    weight: 2,
    act: (world, choices) => {
      // A policy whose answer was lost has an id that its administrator does not know.
      const id = choices.pick([...world.facts.policies.keys()].filter((known) => !known.startsWith('policy-')))
      if (id === undefined) return
      const before = world.facts.policies.get(id) ?? []
      change(world, choices, `policy ${id} goes`, ['DELETE', `/service-policies/${id}`], {
        asked: ['entity.deleted', id],
        begins: () => world.facts.policies.set(id, [...before, undefined]),
        done: () => world.facts.policies.delete(id),
        // It is gone already where an earlier answer was lost.
        refused: (status) => (status === 404 ? world.facts.policies.delete(id) : world.facts.policies.set(id, before)),
      })
    },
  },
  'policy comes': {
    weight: 3,
    act: (world, choices) => {
      const type = choices.happens(0.5) ? 'Dial' : 'Bind'
      const role = type === 'Dial' ? 'dials' : 'hosts'
      const name = `policy-${choices.uuid()}`
      const roles = { serviceRoles: [`#${SERVICE}`], identityRoles: [`#${role}`] }
      change(
        world,
        choices,
        `${type} comes`,
        ['POST', '/service-policies', { name, type, semantic: 'AnyOf', ...roles }],
        {
          asked: ['entity.created', name],
          begins: () => world.facts.policies.set(name, [undefined, { type, role }]),
          done: (answer) => {
            world.facts.policies.delete(name)
            world.facts.policies.set(String(Object(answer).id), [{ type, role }])
          },
          refused: () => world.facts.policies.delete(name),
        },
      )
    },
  },
  'identity is disabled or enabled': {
    weight: 3,
    act: (world, choices) => {
      const id = choices.pick([...world.facts.roles.keys()]) ?? ''
      const isEnabled = choices.happens(0.7)
      const before = world.facts.enabled.get(id) ?? [true]
      const request: Request = isEnabled
        ? ['POST', `/identities/${id}/enable`]
        : ['POST', `/identities/${id}/disable`, { durationMinutes: 0 }]
      change(world, choices, `${id} ${isEnabled ? 'enabled' : 'disabled'}`, request, {
        begins: () => world.facts.enabled.set(id, [...before, isEnabled]),
        done: () => world.facts.enabled.set(id, [isEnabled]),
        refused: () => world.facts.enabled.set(id, before),
      })
    },
  },
  'keys rotate': {
    weight: 1,
    act: (world, choices) => {
      const what = choices.pick(['signing', 'root', 'server'])
      change(world, choices, `${what} rotates`, ['POST', '/portcullis/v1/pki/rotations', { what }], {
        begins: () => undefined,
        done: () => undefined,
        refused: (status) => world.note(`rotation refused: ${status}`),
      })
    },
  },
  'device dials': {
    weight: 6,
    act: (world, choices) => {
      const process = choices.pick(world.runningProcesses)
      if (process === undefined) return
      const identity = process.identity('laptop', world.devices.get('laptop') ?? '')
      const dial = identity.dial(SERVICE, { timeoutMs: 5000 }).then((connection) => {
        const stream = {
          ...{ client: 'laptop', process: process.name, sent: '', received: '', isOver: false },
          write: (text: string) => {
            stream.sent += text
            connection.write(text)
          },
          end: () => connection.destroy(),
        }
        connection.on('data', (bytes: Uint8Array) => {
          stream.received += Buffer.from(bytes).toString()
        })
        connection.on('error', () => undefined)
        connection.once('close', () => {
          stream.isOver = true
        })
        world.streams.push(stream)
        return 'connected'
      })
      world.work(`laptop dials at ${process.name}`, dial)
    },
  },
  'device writes': {
    weight: 10,
    act: (world, choices) => {
      const stream = choices.pick(
        world.streams.filter(({ isOver, process }) => !isOver && world.processNamed(process)?.isRunning),
      )
      stream?.write(choices.uuid().repeat(1 + choices.below(50)))
    },
  },
  'device ends': {
    weight: 2,
    act: (world, choices) => choices.pick(world.streams.filter(({ isOver }) => !isOver))?.end(),
  },
}

/** The faults of a run. Each ends by itself. */
export const FAULTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'reset at any byte': {
    weight: 4,
    act: (world, choices) => {
      const wire = choices.pick([...world.wires.open])
      if (wire === undefined) return
      world.fault('reset at any byte', wire.ends.join('~'))
      wire.reset(choices.fraction())
    },
  },
  'slow connection': {
    weight: 3,
    act: (world, choices) => {
      const wire = choices.pick([...world.wires.open])
      if (wire === undefined) return
      world.fault('slow connection', wire.ends.join('~'))
      wire.slowMs = choices.below(LONG_MS)
      world.time.after(LONG_MS, () => {
        wire.slowMs = 0
        world.faultAt = world.time.now
      })
    },
  },
  'silence one way': {
    weight: 2,
    act: (world, choices) => {
      const wire = choices.pick([...world.wires.open])
      if (wire === undefined) return
      const side = choices.below(2)
      world.fault('silence one way', `${wire.ends.join('~')} ${side}`)
      wire.silent.add(side)
      world.time.after(choices.below(40_000), () => {
        wire.silent.clear()
        world.faultAt = world.time.now
      })
    },
  },
  partition: {
    weight: 2,
    act: (world, choices) => {
      const [one, other] = [choices.pick(world.processes), choices.pick([...world.processes, ...world.routers])]
      if (one === undefined || other === undefined || one === other) return
      const pair = key(one.name, other.name)
      world.fault('partition', pair)
      world.wires.refused.add(pair)
      for (const wire of world.wires.of(one.name)) if (wire.ends.includes(other.name)) wire.reset(1)
      world.time.after(choices.below(20_000), () => {
        world.wires.refused.delete(pair)
        world.faultAt = world.time.now
      })
    },
  },
  'process killed': {
    weight: 2,
    act: (world, choices) => {
      const process = choices.pick(world.runningProcesses)
      if (process === undefined || world.runningProcesses.length < world.processes.length) return
      world.fault('process killed', process.name)
      process.kill()
      const start = () => {
        process.faults.isAway = false
        process.faults.nextWrite = undefined
        world.faultAt = world.time.now
        void process
          .start()
          .then(() => beginDevices(world, process.name))
          .catch((error: unknown) => {
            world.note(`start: ${error}`)
            // As a supervisor does: another fault may come while it starts.
            world.time.after(START_AGAIN_MS, start)
          })
      }
      world.time.after(500 + choices.below(10_000), start)
    },
  },
  'storage late': {
    weight: 3,
    act: (world, choices) => {
      const process = choices.pick(world.processes)
      if (process === undefined) return
      world.fault('storage late', process.name)
      process.faults.slowMs = 1 + choices.below(500)
      world.time.after(LONG_MS, () => {
        process.faults.slowMs = 0
        world.faultAt = world.time.now
      })
    },
  },
  'storage fails before the commit': {
    weight: 2,
    act: (world, choices) => failNextWrite(world, choices, 'before'),
  },
  'storage fails after the commit': {
    weight: 2,
    act: (world, choices) => failNextWrite(world, choices, 'after'),
  },
  'storage away': {
    weight: 2,
    act: (world, choices) => {
      const process = choices.pick(world.processes)
      if (process === undefined) return
      world.fault('storage away', process.name)
      process.faults.isAway = true
      world.time.after(choices.below(5000), () => {
        process.faults.isAway = false
        world.faultAt = world.time.now
      })
    },
  },
  'clock jumps': {
    weight: 1,
    act: (world, choices) => {
      const process = choices.pick(world.processes)
      if (process === undefined) return
      world.fault('clock jumps', process.name)
      process.jump(choices.below(2000) - process.aheadMs)
    },
  },
  'receiver fails': {
    weight: 2,
    act: (world, choices) => {
      world.fault('receiver fails', world.receiver.changeMood(choices))
      world.time.after(choices.below(LONG_MS), () => {
        world.receiver.mood = undefined
        world.faultAt = world.time.now
      })
    },
  },
  'hostile frame': {
    weight: 1,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected }) => isConnected))
      if (router === undefined) return
      world.fault('hostile frame', router.name)
      if (choices.happens(0.5)) router.sendRaw(choices.bytes(20 + choices.below(100)))
      else router.send(HOSTILE_TYPE, choices.bytes(choices.below(100)))
    },
  },
}

function failNextWrite(world: World, choices: Choices, when: 'before' | 'after'): void {
  const process = choices.pick(world.processes)
  if (process === undefined) return
  world.fault(`storage fails ${when} the commit`, process.name)
  process.faults.nextWrite = when
}

type Request = readonly [method: string, path: string, body?: object]

interface Outcome {
  /** The type of the audit record that a change leaves, and a text that no other record of the type has. */
  readonly asked?: readonly [type: string, mark: string]
  /** The change may have happened from now on. */
  begins(): void
  done(answer: unknown): void
  /** It surely did not happen. */
  refused(status: number): void
}

/** A change by the administrator: acknowledged, refused, or unknown where the answer is lost. */
function change(world: World, choices: Choices, what: string, [method, path, body]: Request, outcome: Outcome): void {
  const process = choices.pick(world.runningProcesses)
  if (process === undefined || world.isChanging) return
  world.isChanging = true
  world.facts.changedAt = world.time.now
  outcome.begins()
  const [type = '', mark = ''] = outcome.asked ?? []
  const asked: AskedChange = { type, mark, outcome: 'lost' }
  if (outcome.asked !== undefined) world.asked.push(asked)
  const answered = process.call(method, path, body).then(
    (answer) => {
      outcome.done(answer)
      asked.outcome = 'acknowledged'
    },
    (error: unknown) => {
      if (error instanceof Refused && error.status < 500) {
        asked.outcome = 'refused'
        outcome.refused(error.status)
      }
      throw error
    },
  )
  // An administrator gives up after a while, and does not know then.
  const givenUp = new Promise<void>((resolve) => world.time.after(10_000, resolve))
  const over = Promise.race([answered, givenUp]).finally(() => {
    world.isChanging = false
    world.facts.changedAt = world.time.now
  })
  world.work(`${process.name}: ${what}`, over)
}

/** The devices of a process that runs: the host takes every connection, and sends everything back. */
export function beginDevices(world: World, name: string): void {
  const process = world.processNamed(name)
  if (process?.isRunning !== true) return
  const identity = process.identity('box', world.devices.get('box') ?? '')
  const host = () => {
    if (process.isRunning)
      identity
        .host(
          SERVICE,
          (connection: NodeJS.ReadWriteStream) => void connection.on('error', () => undefined).pipe(connection),
        )
        .catch(() => world.time.after(2000, host))
  }
  host()
}
