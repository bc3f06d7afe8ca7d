import type { Choices } from './choices.ts'
import { logIn, SESSIONS, sessionsIn, setEnabled, unknownSessions } from './claim-acts.ts'
import { grantAttribute } from './grant-acts.ts'
import { ROLES, type World } from './world.ts'

/** Milliseconds for which a grant is there at rest, and until it begins. */
const GRANTED_MS = 60_000
const BEGINS_WITHIN_MS = 500
/** Milliseconds after an end within which it is written. */
const WRITTEN_WITHIN_MS = 2000
/** Milliseconds within which a change is answered at rest. */
const ANSWERED_WITHIN_MS = 10_000

/** Knows for certain, at rest, whether the signer is enabled, and which logins stand whose answers were lost. */
export async function settleLogins(world: World): Promise<void> {
  const { facts, signer, time } = world
  const { claims } = facts
  const [process] = world.runningProcesses
  const { enabled } = Object(await process?.call('GET', `/external-jwt-signers/${signer.id}`))
  claims.enabled = [enabled === true]
  const listed = await process?.call('GET', SESSIONS)
  const standing = sessionsIn(world, listed)
  for (const login of claims.logins) {
    if (enabled !== true) login.overAt = time.now
    if (!claims.mayStand(login, time.now)) continue
    if (login.session === undefined) {
      const found = unknownSessions(world, listed).find(([, identity]) => identity === login.identity)
      if (found === undefined) login.overAt = time.now
      else login.session = { id: found[0], token: '' }
    } else if (login.isEnding && !standing.has(login.session.id)) login.overAt = time.now
    login.isEnding = false
  }
}

/** Gives role attributes once more: whatever failed before, they work now, over links between all routers. */
export async function giveAtRest(world: World, choices: Choices): Promise<void> {
  const { manner, facts, routers, time } = world
  const [, , guest] = routers
  if (manner.hasGrants || manner.hasClaims)
    for (const from of routers) for (const to of routers) if (from.name < to.name) from.link(to)
  const done = async () => {
    for (let passed = 0; passed < ANSWERED_WITHIN_MS && world.isChanging; passed += 100) await time.pass(100)
  }
  if (manner.hasGrants) {
    const begins = { startsAt: time.now + BEGINS_WITHIN_MS, until: time.now + GRANTED_MS }
    grantAttribute(world, choices, {
      ...{ identity: guest?.id ?? '', attribute: choices.pick(ROLES) ?? '' },
      ...begins,
    })
    await done()
  }
  if (!manner.hasClaims) return
  if (facts.claims.enabled.includes(false)) {
    setEnabled(world, choices, true)
    await done()
  }
  const { length } = facts.claims.logins.filter(({ session }) => session)
  logIn(world, choices, guest?.id ?? '', ROLES)
  await done()
  const isEnabled = facts.enabled.get(guest?.id ?? '')?.every((enabled) => enabled) ?? true
  if (isEnabled && facts.claims.logins.filter(({ session }) => session).length === length)
    world.wrong ??= 'login: the guest may log in, and is refused'
}

/** An identity is shown with a grant that is over, or with claims without a login; or a login ended that should stand. */
export async function shownWrongly(world: World): Promise<string | undefined> {
  const { manner, facts, time } = world
  const [process] = world.runningProcesses
  if (!manner.hasGrants && !manner.hasClaims) return undefined
  for (const id of facts.roles.keys()) {
    const {
      attributeGrants = [],
      grantedAttributes = [],
      claimAttributes = [],
    } = Object(await process?.call('GET', `/identities/${id}`))
    const within = { from: time.now - WRITTEN_WITHIN_MS, to: time.now }
    const over = attributeGrants.find((grant: unknown) => Date.parse(Object(grant).until) < within.from)
    if (over !== undefined) return `grants: ${id} is shown with the grant ${JSON.stringify(over)}`
    const granted = grantedAttributes.find((one: string) => !facts.mayBeGranted(id, one, within))
    if (granted !== undefined) return `grants: ${id} is shown with ${granted} without a grant`
    const claimed = claimAttributes.find((one: string) => !facts.claims.mayHave(id, one, within))
    if (claimed !== undefined) return `claims: ${id} is shown with ${claimed} without a login`
  }
  if (!manner.hasClaims) return undefined
  const standing = sessionsIn(world, await process?.call('GET', SESSIONS))
  const ended = facts.claims.logins.find(
    (login) => facts.claims.surelyStands(login, time.now) && !standing.has(login.session?.id ?? ''),
  )
  return ended && `login: the login of ${ended.identity} ended before its time`
}
