import type { Act } from './acts.ts'
import { change, look, type Outcome } from './changes.ts'
import type { Choices } from './choices.ts'
import { drawIdentity, rightOf } from './grant-acts.ts'
import { type KnownLogin, MOST_AHEAD_MS } from './known-claims.ts'
import { tryAfter } from './timed-acts.ts'
import { ROLES, type World } from './world.ts'

/** The list of all API sessions. */
export const SESSIONS = '/api-sessions?limit=500'

/** The API sessions of a list that began by tokens of the signer, with the identity of each. */
export function sessionsIn({ signer }: World, listed: unknown): ReadonlyMap<string, string> {
  const sessions = Object.values(Object(listed)).map((one) => Object(one))
  const own = sessions.filter(({ authenticatorId }) => String(authenticatorId).endsWith(signer.id))
  return new Map(own.map(({ id, identityId }) => [String(id), String(identityId)]))
}

/** Those of them that no known login has: logins whose answers were lost. */
export function unknownSessions(world: World, listed: unknown): readonly (readonly [id: string, identity: string])[] {
  const held = new Set(world.facts.claims.logins.map(({ session }) => session?.id))
  return [...sessionsIn(world, listed)].filter(([id]) => !held.has(id))
}

/** Logins by tokens of an external signer. */
export const CLAIM_ACTS: Readonly<Record<string, { readonly weight: number; readonly act: Act }>> = {
  'person logs in with claims': {
    weight: 40,
    act: (world, choices) => {
      const isRefused = world.facts.claims.enabled.includes(false)
      if (isRefused && choices.happens(0.4)) setEnabled(world, choices, true)
      else drawLogin(world, choices)
    },
  },
  'person logs out': {
    weight: 25,
    act: (world, choices) => {
      const { claims } = world.facts
      const login = choices.pick(claims.logins.filter((one) => one.session && claims.mayStand(one, world.time.now)))
      const session = login?.session
      if (login === undefined || session === undefined) return drawLogin(world, choices)
      const { isEnding } = login
      const isByAdmin = session.token === '' || choices.happens(0.4)
      const over = () => {
        login.overAt = world.time.now
        tryAfterLogin(world, choices, login, world.time.now)
      }
      const outcome: Outcome = {
        begins: () => {
          login.isEnding = true
        },
        done: () => {
          world.did('login ended before its time')
          over()
        },
        // A session of a disabled identity, or of a disabled signer, is refused and there.
        refused: (status) => {
          if (status === 404) over()
          else login.isEnding = isEnding || world.time.now >= login.askedAt + claims.lastsMs - MOST_AHEAD_MS
        },
        lost: () => look(world, SESSIONS, looked),
      }
      const looked = (answer: unknown) => {
        if (sessionsIn(world, answer).has(session.id)) login.isEnding = isEnding
        else login.overAt = world.time.now
      }
      const what = `${login.identity} logs out${isByAdmin ? ' by an administrator' : ''}`
      if (isByAdmin) change(world, choices, what, ['DELETE', `/api-sessions/${session.id}`], outcome)
      else change(world, choices, what, (process) => process.logOut(session.token), outcome)
    },
  },
  'signer is disabled or enabled': {
    weight: 12,
    act: (world, choices) => setEnabled(world, choices, world.facts.claims.enabled.includes(false)),
  },
}

function drawLogin(world: World, choices: Choices): void {
  const groups = ROLES.filter(() => choices.happens(0.6))
  logIn(world, choices, drawIdentity(world, choices), groups)
}

/** A person logs in by a token of the signer. */
export function logIn(world: World, choices: Choices, identity: string, groups: readonly string[]): void {
  const { signer, time } = world
  const { claims } = world.facts
  const before = claims.latest.get(identity) ?? [[]]
  let login: KnownLogin | undefined
  change(
    world,
    choices,
    `${identity} logs in as ${groups}`,
    async (process) => process.logIn(await signer.token(identity, groups)),
    {
      begins: () => {
        login = claims.asked(identity, groups, time.now)
        claims.latest.set(identity, [...before, groups])
      },
      done: (answer) => {
        world.did('login with claims')
        if (login === undefined) return
        claims.begun(login, Object(answer), time.now)
        claims.latest.set(identity, [groups])
        tryAfterLogin(world, choices, login, login.dueAt + (choices.happens(0.5) ? 0 : 4000))
      },
      refused: () => {
        if (login !== undefined) login.overAt = 0
        claims.latest.set(identity, before)
      },
      lost: () => {
        const readings = claims.latest.get(identity)
        look(world, SESSIONS, (answer) => {
          const lost = claims.logins.filter(
            (one) => one.identity === identity && one.session === undefined && one.overAt > 0,
          )
          // Nobody knows of several lost logins which of them began.
          if (login === undefined || lost.length > 1) return
          const found = unknownSessions(world, answer).find(([, of]) => of === identity)
          if (found === undefined) login.overAt = 0
          else claims.begun(login, { id: found[0], token: '' }, time.now)
          if (claims.latest.get(identity) === readings)
            claims.latest.set(identity, found === undefined ? before : [groups])
        })
      },
    },
  )
}

/** An administrator enables or disables the signer. Its logins end with it. */
export function setEnabled(world: World, choices: Choices, isEnabled: boolean): void {
  const { signer, time } = world
  const { claims } = world.facts
  const before = claims.enabled
  let ended: ReturnType<typeof claims.ending> | undefined
  const path = `/external-jwt-signers/${signer.id}`
  change(
    world,
    choices,
    `the signer is ${isEnabled ? 'enabled' : 'disabled'}`,
    ['PATCH', path, { enabled: isEnabled }],
    {
      begins: () => {
        claims.enabled = [...before, isEnabled]
        if (isEnabled) claims.takenBack()
        else ended = claims.ending(time.now, () => true)
      },
      done: () => {
        claims.enabled = [isEnabled]
        if (isEnabled) return
        world.did('signer disabled')
        ended?.done(time.now)
        for (const login of ended?.logins ?? []) tryAfterLogin(world, choices, login, time.now)
      },
      refused: () => {
        claims.enabled = before
        ended?.refused()
      },
      lost: () => {
        const readings = claims.enabled
        look(world, path, (answer) => {
          if (claims.enabled !== readings) return
          claims.enabled = [Object(answer).enabled === true]
          if (Object(answer).enabled !== true) ended?.lost(time.now)
        })
      },
    },
  )
}

function tryAfterLogin(world: World, choices: Choices, { identity, attributes }: KnownLogin, until: number): void {
  const attribute = choices.pick(attributes)
  if (attribute !== undefined) tryAfter(world, choices, { type: rightOf(attribute), identity, until })
}
