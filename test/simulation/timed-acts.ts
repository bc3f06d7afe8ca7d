import type { Act } from './acts.ts'
import { change, changeAtOnce, type Outcome, type Request } from './changes.ts'
import type { Choices } from './choices.ts'
import { refuseChanges } from './faults.ts'
import type { KnownPolicy, Right } from './known-facts.ts'
import { operatorWorks, routerDials, routerHosts } from './rights-held.ts'
import { OPERATOR, SERVICE, type World } from './world.ts'

/** Milliseconds of a request's access: a minute at least. */
const LEAST_ASKED_MS = 60_000
/** The most milliseconds after a decision for which it may still happen when its answer was lost. */
const LOST_WITHIN_MS = 60_000

/** The most addresses of a router: hosting has no end of its own. */
const MOST_HOSTED = 5

/** A request of an identity, and the answers to the operators that decided it. */
export interface KnownRequest {
  readonly id: string
  readonly identity: string
  readonly type: Right
  readonly durationMs: number
  /** The states that decisions gave it, each acknowledged. */
  readonly decided: string[]
  /** The states that decisions may have given it, answered or not. */
  readonly possible: Set<string>
}

const instant = (at: number): string => new Date(at).toISOString()

/** A term that begins and ends soon; each end may be open. */
export function drawTerm(world: World, choices: Choices): Pick<KnownPolicy, 'startsAt' | 'until'> {
  const { now } = world.time
  const startsAt = choices.happens(0.5) ? now + choices.below(10_000) : undefined
  const longest = choices.happens(0.85) ? 8000 : 200_000
  const until = choices.happens(0.85) ? (startsAt ?? now) + 2500 + choices.below(longest) : undefined
  return { startsAt, until }
}

/** Its holder tries again just after an end: whatever is written late must not let it in. */
export function tryAfter(
  world: World,
  choices: Choices,
  { type, identity, until }: Pick<KnownPolicy, 'type' | 'identity' | 'until'>,
): void {
  if (until === undefined) return
  const { routers, time } = world
  if (world.manner.hasFaults && choices.happens(0.4))
    world.later(until - choices.below(1000) - time.now, () => refuseChanges(world, 1500 + choices.below(3000)))
  const router = routers.find(({ id }) => id === identity) ?? choices.pick(routers)
  const attempt = type === 'Dial' ? routerDials : routerHosts
  for (let count = 0; count < 2; count += 1) {
    const at = until + choices.below(choices.happens(0.5) ? 20 : 1500)
    world.later(at - time.now, () => {
      if (router?.isConnected && router.hosted.size < MOST_HOSTED) attempt(world, router)
    })
  }
}

export const shown = ({ startsAt, until }: Pick<KnownPolicy, 'startsAt' | 'until'>) => ({
  ...(startsAt !== undefined && { startsAt: instant(startsAt) }),
  ...(until !== undefined && { until: instant(until) }),
})

/** Access and rights that begin and end by themselves, and requests for access. */
export const TIMED_ACTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'grant with a term': {
    weight: 5,
    act: (world, choices) => {
      const type = choices.happens(0.7) ? 'Dial' : 'Bind'
      const [first, ...others] = [...world.routers].reverse()
      const identity = (choices.happens(0.6) ? first : choices.pick(others))?.id ?? ''
      const policy = { type, identity, ...drawTerm(world, choices) } as const
      const name = `policy-${choices.uuid()}`
      tryAfter(world, choices, policy)
      const roles = { serviceRoles: [`#${SERVICE}`], identityRoles: [`@${identity}`] }
      const { startsAt, until } = shown(policy)
      const body = { name, type, semantic: 'AnyOf', ...roles, ...shown(policy) }
      change(
        world,
        choices,
        `${identity} may ${type} from ${startsAt} to ${until}`,
        ['POST', '/service-policies', body],
        {
          asked: ['entity.created', name],
          begins: () => world.facts.policies.set(name, [undefined, policy]),
          done: (answer) => {
            world.facts.policies.delete(name)
            world.facts.policies.set(String(Object(answer).id), [policy])
          },
          refused: () => world.facts.policies.delete(name),
        },
      )
    },
  },
  'term moves': {
    weight: 3,
    act: (world, choices) => {
      const id = choices.pick([...world.facts.policies.keys()].filter((known) => !known.startsWith('policy-')))
      const before = (id === undefined ? undefined : world.facts.policies.get(id)) ?? []
      if (id === undefined) return
      const until = world.time.now + 2500 + choices.below(20_000)
      const after = before.map((policy) => policy && { ...policy, until })
      for (const policy of after) if (policy !== undefined) tryAfter(world, choices, policy)
      const reason = `moved ${choices.uuid()}`
      change(
        world,
        choices,
        `${id} ends at ${instant(until)}`,
        ['PATCH', `/service-policies/${id}`, { until: instant(until), reason }],
        {
          asked: ['entity.updated', reason],
          begins: () => world.facts.policies.set(id, [...before, ...after]),
          done: () => world.facts.policies.set(id, after),
          refused: (status) =>
            status === 404 ? world.facts.policies.delete(id) : world.facts.policies.set(id, before),
        },
      )
    },
  },
  'operator gets or loses rights': {
    weight: 2,
    act: (world, choices) => {
      const id = world.devices.get(OPERATOR) ?? ''
      const { facts, time } = world
      const until = choices.happens(0.75) ? time.now + 2500 + choices.below(20_000) : 0
      const process = choices.pick(world.processes)
      const at = until + choices.below(choices.happens(0.5) ? 20 : 1500)
      if (world.manner.hasFaults && choices.happens(0.4))
        world.later(until - choices.below(1000) - time.now, () => refuseChanges(world, 1500 + choices.below(3000)))
      world.later(at - time.now, () => {
        if (process?.isRunning) operatorWorks(world, process)
      })
      const before = facts.rightsUntil
      const body = until === 0 ? { isAdmin: false } : { isAdmin: true, rightsUntil: instant(until) }
      change(world, choices, `the operator has rights until ${until}`, ['PATCH', `/identities/${id}`, body], {
        begins: () => {
          facts.rightsUntil = [...before, until]
        },
        done: () => {
          facts.rightsUntil = [until]
        },
        refused: () => {
          facts.rightsUntil = before
        },
      })
    },
  },
  'operator works': {
    weight: 4,
    act: (world, choices) => {
      const process = choices.pick(world.runningProcesses)
      if (process !== undefined) operatorWorks(world, process)
    },
  },
  'identity asks for access': {
    weight: 3,
    act: (world, choices) => {
      const process = choices.pick(world.runningProcesses)
      const identity = choices.pick([...world.facts.roles.keys()])
      if (process === undefined || identity === undefined) return
      const type = choices.happens(0.7) ? 'Dial' : 'Bind'
      const durationMs = LEAST_ASKED_MS + choices.below(60_000)
      const body = { service: SERVICE, type, durationMs, reason: 'the run' }
      const asked = process.callAs(identity, 'POST', '/portcullis/v1/access-requests', body).then((answer) => {
        const id = String(Object(answer).id)
        world.requests.set(id, { id, identity, type, durationMs, decided: [], possible: new Set(['open']) })
        return id
      })
      world.work(`${identity} asks to ${type}`, asked)
    },
  },
  'request is decided': {
    weight: 6,
    act: (world, choices) => {
      const requests = [...world.requests.values()]
      const open = requests.filter(({ decided }) => decided.length === 0)
      const request = choices.pick(open.length > 0 && choices.happens(0.8) ? open : requests)
      if (request === undefined) return
      const count = choices.pick([1, 2, 2, 3]) ?? 1
      const decisions = Array.from({ length: count }, () => decisionOn(world, choices, request))
      changeAtOnce(world, choices, `${count} decide ${request.id}`, decisions)
    },
  },
}

function decisionOn(world: World, choices: Choices, request: KnownRequest): readonly [Request, Outcome] {
  const { id, identity, type } = request
  const { policies } = world.facts
  const path = `/portcullis/v1/access-requests/${id}`
  const state = choices.pick(['approved', 'approved', 'refused', 'withdrawn'] as const) ?? 'approved'
  const mark = `policy-of-${id}-${choices.uuid()}`
  const until = world.time.now + LOST_WITHIN_MS + request.durationMs
  const outcome: Outcome = {
    begins: () => {
      request.possible.add(state)
      if (state === 'approved') policies.set(mark, [undefined, { type, identity, until }])
    },
    done: (answer) => {
      request.decided.push(state)
      policies.delete(mark)
      if (state !== 'approved') return
      const end = Date.parse(String(Object(answer).until))
      tryAfter(world, choices, { type, identity, until: end })
      policies.set(String(Object(answer).policyId), [{ type, identity, until: end }])
    },
    refused: () => void policies.delete(mark),
  }
  if (state === 'approved') return [['POST', `${path}/approve`, {}], outcome]
  if (state === 'refused') return [['POST', `${path}/refuse`, {}], outcome]
  return [['POST', `${path}/withdraw`], { ...outcome, by: identity }]
}
