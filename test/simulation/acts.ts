import type { Identity } from 'portcullis/sdk'
import { change, type Request } from './changes.ts'
import type { Choices } from './choices.ts'
import { judged, routerDials, routerHosts } from './rights-held.ts'
import { key } from './wires.ts'
import { ROLES, SERVICE, type World } from './world.ts'

/** Acts of a run: each draws its particulars from choices of its own, so that a script without its neighbours does the same. */
export type Act = (world: World, choices: Choices) => void

/** A device reached a host at the router of another process. */
export const OVER_A_LINK = 'stream over a link'

/** One act of the network's people and programs. */
export const ACTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'router dials': {
    weight: 14,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected }) => isConnected))
      if (router !== undefined) routerDials(world, router)
    },
  },
  'router hosts': {
    weight: 6,
    act: (world, choices) => {
      const router = choices.pick(
        world.hostingRouters.filter(({ isConnected, hosted }) => isConnected && hosted.size < 3),
      )
      if (router !== undefined) routerHosts(world, router)
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
    weight: 6,
    act: (world, choices) => {
      const router = choices.pick(world.routers)
      // As a router does that was away while a circuit ended.
      router?.confirm(choices.happens(0.5) ? ['circuit-of-nobody'] : [])
    },
  },
  'router moves a path': {
    weight: 4,
    act: (world, choices) => {
      const router = choices.pick(world.routers.filter(({ isConnected }) => isConnected))
      const [target, ...others] = world.routers.filter((other) => other !== router && other.isConnected)
      if (router === undefined || target === undefined) return
      const from = choices.pick([target, ...others])
      for (const other of [target, ...others]) if (other !== from) router.link(other)
      world.time.after(choices.below(200), () => {
        if (from === undefined) return
        router.cut(from.id)
        from.cut(router.id)
      })
    },
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
      const id = choices.pick(world.memberIds) ?? ''
      // The mark makes each change different from the roles before.
      const mark = `m${choices.uuid()}`
      const roles = [...ROLES.filter(() => choices.happens(0.7)), mark]
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
      const { enabled, claims } = world.facts
      // Its logins end, and do not come back.
      let ended: ReturnType<typeof claims.ending> | undefined
      change(world, choices, `${id} ${isEnabled ? 'enabled' : 'disabled'}`, request, {
        begins: () => {
          enabled.set(id, [...before, isEnabled])
          if (!isEnabled) ended = claims.ending(world.time.now, ({ identity }) => identity === id)
        },
        done: () => {
          enabled.set(id, [isEnabled])
          ended?.done(world.time.now)
        },
        refused: () => {
          enabled.set(id, before)
          ended?.refused()
        },
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
      const process = choices.pick(world.runningProcesses.filter(({ servesDevices }) => servesDevices))
      if (process === undefined) return
      const laptop = world.devices.get('laptop') ?? ''
      const asked = dialed(world, process.identity('laptop', laptop), process.name).then((answer) => {
        if (world.manner.hasOwnLinks && process.name !== HOSTING) world.did(OVER_A_LINK)
        return answer
      })
      const by = { identity: laptop, right: 'Dial', what: 'laptop' } as const
      // The device is gone with its process.
      const answered = Promise.race([asked, process.running?.killed.promise ?? asked])
      world.work(
        `laptop dials at ${process.name}`,
        judged(world, by, answered, () => true),
      )
    },
  },
  'device writes': {
    weight: 10,
    act: (world, choices) => {
      const stream = choices.pick(
        world.streams.filter(
          ({ isOver, at }) => !isOver && (at === world.running?.name || world.processNamed(at)?.isRunning),
        ),
      )
      stream?.write(choices.uuid().repeat(1 + choices.below(50)))
    },
  },
  'device ends': {
    weight: 2,
    act: (world, choices) => choices.pick(world.streams.filter(({ isOver }) => !isOver))?.end(),
  },
}

/** A device dials the service; its stream is one of the network. */
export async function dialed(world: World, identity: Identity, at: string): Promise<string> {
  const connection = await identity.dial(SERVICE, { timeoutMs: 5000 })
  const stream = {
    ...{ client: 'laptop', at, openedAt: world.time.now, sent: '', received: '', isOver: false },
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
}

/** The process at which the host is, where there is one. */
const HOSTING = 'two'

/** The devices of a process that runs: the host takes every connection, and sends everything back. */
export function beginDevices(world: World, name: string): void {
  const process = world.processNamed(name)
  // Where own routers are linked, devices of one process reach the host at another one.
  if (process?.servesDevices !== true || (world.manner.hasOwnLinks && name !== HOSTING)) return
  const identity = process.identity('box', world.devices.get('box') ?? '')
  const host = () => {
    if (process.servesDevices)
      identity
        .host(
          SERVICE,
          (connection: NodeJS.ReadWriteStream) => void connection.on('error', () => undefined).pipe(connection),
        )
        .catch(() => world.time.after(2000, host))
  }
  host()
}
