import { expect } from 'vitest'
import { newKey, signingRequest } from '../contract/http/signing-request.ts'
import { textIn } from '../crash/served-controller.ts'
import { totp } from '../support/totp.ts'
import { made, type Send, type Told, type TwoProcesses } from './two-processes.ts'

/** Two operations that contradict each other, one asked of each process at the same moment, and what must hold then. */
export interface Race {
  readonly acts: readonly [() => Promise<Told>, () => Promise<Told>]
  check(told: readonly [Told, Told]): Promise<void>
}
type Prepare = (world: TwoProcesses, name: string) => Promise<Race>

/** Somebody with a password who may dial a service, logged in at the first process. */
async function bob(world: TwoProcesses, name: string) {
  const admin = world.admin(0)
  const id = await made(admin, '/identities', { name, type: 'User', isAdmin: false, roleAttributes: ['people'] })
  const credentials = { username: name, password: 'Correct-Horse-1' }
  const authenticator = await made(admin, '/authenticators', { method: 'updb', identityId: id, ...credentials })
  const token = await world.login(0, credentials)
  const self =
    (send: Send): Send =>
    (method, path, body) =>
      send(method, `/client/v1${path}`, body)
  return { id, credentials, authenticator, token, self: self(world.as(0, token)), admin }
}
type Bob = Awaited<ReturnType<typeof bob>>

const count = async (send: Send, path: string, filter: string) => {
  const told = await send('GET', `${path}?filter=${encodeURIComponent(filter)}`)
  expect(told.status, told.text).toBe(200)
  return told.total
}

/** Acts that take bob's session from him. */
const ENDS: Readonly<Record<string, (other: Send, who: Bob) => Promise<Told>>> = {
  disabled: (other, { id }) => other('POST', `/identities/${id}/disable`, { durationMinutes: 0 }),
  deleted: (other, { id }) => other('DELETE', `/identities/${id}`),
  'without the authenticator': (other, { authenticator }) => other('DELETE', `/authenticators/${authenticator}`),
}

/** Requests of bob with his session. */
const REQUESTS: Readonly<Record<string, (who: Bob, world: TwoProcesses, serviceId: string) => Promise<Told>>> = {
  'a service session': ({ self }, _, serviceId) => self('POST', '/sessions', { serviceId, type: 'Dial' }),
  'a posture report': ({ self }) => self('POST', '/posture-response', { id: 'd', typeId: 'DOMAIN', domain: 'corp' }),
  'a certificate': ({ self }) => self('POST', '/current-api-session/certificates', { csr: signingRequest(newKey()) }),
  'an MFA enrollment': ({ self }) => self('POST', '/current-identity/mfa'),
  'a login': ({ credentials }, world) => world.as(0)('POST', '/client/v1/authenticate?method=password', credentials),
}

/** Whatever bob asks for while his session is taken from him, nothing of it is left. */
function whileEnding(end: keyof typeof ENDS, request: keyof typeof REQUESTS, serviceId: string): Prepare {
  return async (world, name) => {
    const who = await bob(world, name)
    return {
      acts: [
        () => REQUESTS[request]?.(who, world, serviceId) ?? Promise.reject(new Error(request)),
        () => ENDS[end]?.(world.admin(1), who) ?? Promise.reject(new Error(end)),
      ],
      async check([, ended]) {
        expect(ended.status, ended.text).toBe(200)
        expect(await count(who.admin, '/api-sessions', `identity = "${who.id}"`)).toBe(0)
        expect((await who.admin('GET', '/sessions')).total).toBe(0)
        expect((await who.self('GET', '/current-api-session')).status).toBe(401)
        await who.admin('DELETE', `/identities/${who.id}`)
      },
    }
  }
}

/** Of two acts that exclude each other exactly one succeeds. */
function exactlyOne(told: readonly [Told, Told]): void {
  const succeeded = told.filter(({ status }) => status < 300)
  expect(succeeded, told.map(({ status, text }) => `${status} ${text}`).join('\n')).toHaveLength(1)
}

const verifyAndRemoveMfa: Prepare = async (world, name) => {
  const who = await bob(world, name)
  await who.self('POST', '/current-identity/mfa')
  const shown = await who.self('GET', '/current-identity/mfa')
  const secret = new URL(textIn(shown.data, 'provisioningUrl')).searchParams.get('secret') ?? ''
  return {
    acts: [
      () => who.self('POST', '/current-identity/mfa/verify', { code: totp(secret, Date.now()) }),
      () => world.as(1, who.token)('DELETE', '/client/v1/current-identity/mfa'),
    ],
    async check(told) {
      exactlyOne(told)
      const { data } = await who.admin('GET', `/identities/${who.id}`)
      expect(data).toMatchObject({ isMfaEnabled: told[0].status === 200 })
      await who.admin('DELETE', `/identities/${who.id}`)
    },
  }
}

const redeemTwice: Prepare = async (world, name) => {
  const admin = world.admin(0)
  const enrollment = { updb: `${name}-user` }
  const id = await made(admin, '/identities', { name, type: 'User', isAdmin: false, enrollment })
  const { data } = await admin('GET', `/identities/${id}`)
  const token = textIn(Reflect.get(Object(Reflect.get(Object(data), 'enrollment')), 'updb'), 'token')
  const redeem = (process: 0 | 1) =>
    world.as(process)('POST', `/client/v1/enroll?method=updb&token=${token}`, { password: `Correct-Horse-${process}` })
  return {
    acts: [() => redeem(0), () => redeem(1)],
    async check(told) {
      exactlyOne(told)
      expect(await count(admin, '/authenticators', `identity = "${id}"`)).toBe(1)
    },
  }
}

const sameName: Prepare = async (world, name) => {
  const create = (process: 0 | 1) => world.admin(process)('POST', '/services', { name })
  return { acts: [() => create(0), () => create(1)], check: async (told) => exactlyOne(told) }
}

/** An entity is not deleted while something begins to need it. */
const policyInUse: Prepare = async (world, name) => {
  const who = await bob(world, name)
  const { data } = await who.admin('GET', '/auth-policies/default')
  const { primary, secondary } = Object(data)
  const policy = await made(who.admin, '/auth-policies', { name, primary, secondary })
  return {
    acts: [
      () => world.admin(0)('PATCH', `/identities/${who.id}`, { authPolicyId: policy }),
      () => world.admin(1)('DELETE', `/auth-policies/${policy}`),
    ],
    async check(told) {
      exactlyOne(told)
      expect((await who.admin('DELETE', `/identities/${who.id}`)).status).toBe(200)
    },
  }
}

const terminatorOfDeleted: Prepare = async (world, name) => {
  const admin = world.admin(0)
  const service = await made(admin, '/services', { name })
  const router = await made(admin, '/edge-routers', { name })
  const body = { address: `tcp:${name}:1`, binding: 'transport', service, router }
  return {
    acts: [() => admin('POST', '/terminators', body), () => world.admin(1)('DELETE', `/services/${service}`)],
    async check([, deleted]) {
      expect(deleted.status, deleted.text).toBe(200)
      expect(await count(admin, '/terminators', `service = "${service}"`)).toBe(0)
    },
  }
}

const sessionOfLostPolicy = (serviceId: string): Prepare => {
  return async (world, name) => {
    const who = await bob(world, name)
    const policies = await who.admin('GET', `/service-policies?filter=${encodeURIComponent('name = "people dial"')}`)
    const policy = textIn(Object(policies.data)[0], 'id')
    return {
      acts: [
        () => who.self('POST', '/sessions', { serviceId, type: 'Dial' }),
        () => world.admin(1)('PATCH', `/service-policies/${policy}`, { serviceRoles: [] }),
      ],
      async check([, patched]) {
        expect(patched.status, patched.text).toBe(200)
        expect((await who.admin('GET', '/sessions')).total).toBe(0)
        await who.admin('PATCH', `/service-policies/${policy}`, { serviceRoles: ['#all'] })
        await who.admin('DELETE', `/identities/${who.id}`)
      },
    }
  }
}

/** An act of somebody who is an administrator no more is not done. */
const demoted: Prepare = async (world, name) => {
  const who = await bob(world, name)
  await who.admin('PATCH', `/identities/${who.id}`, { isAdmin: true })
  const token = await world.login(0, who.credentials)
  const services = async (prefix: string) => {
    const told = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        world.as(0, token)('POST', '/management/v1/services', { name: `${prefix}${index}` }),
      ),
    )
    return told[0] ?? Promise.reject(new Error('nothing was asked'))
  }
  return {
    acts: [
      () => services(`${name}-while-`),
      () => world.admin(1)('PATCH', `/identities/${who.id}`, { isAdmin: false }),
    ],
    async check([, patched]) {
      expect(patched.status, patched.text).toBe(200)
      expect((await services(`${name}-after-`)).status).toBe(401)
      expect(await count(who.admin, '/services', `name contains "${name}-after-"`)).toBe(0)
      await who.admin('DELETE', `/identities/${who.id}`)
    },
  }
}

/** Two administrators disable each other: one of them stays. */
const lastAdministrators: Prepare = async (world, name) => {
  const who = await bob(world, name)
  await who.admin('PATCH', `/identities/${who.id}`, { isAdmin: true })
  const token = await world.login(1, who.credentials)
  const asBob: Send = (method, path, body) => world.as(1, token)(method, `/management/v1${path}`, body)
  const disable = { durationMinutes: 0 }
  return {
    acts: [
      () => world.admin(0)('POST', `/identities/${who.id}/disable`, disable),
      () => asBob('POST', `/identities/${world.adminId}/disable`, disable),
    ],
    async check(told) {
      exactlyOne(told)
      if (told[1].status === 200) {
        expect((await asBob('POST', `/identities/${world.adminId}/enable`)).status).toBe(200)
        await world.renewAdmin()
      }
      await world.admin(0)('DELETE', `/identities/${who.id}`)
    },
  }
}

/** Of two decisions about one access request only one is made, and an approval makes one policy. */
const decidedTwice =
  (other: 'approve' | 'refuse', serviceId: string): Prepare =>
  async (world, name) => {
    const who = await bob(world, name)
    const path = '/portcullis/v1/access-requests'
    const wish = { service: serviceId, durationMs: 60_000, reason: name }
    const asked = await world.as(0, who.token)('POST', path, wish)
    const id = textIn(asked.data, 'id')
    const decide = (process: 0 | 1, decision: string) => world.admin(process)('POST', `${path}/${id}/${decision}`, {})
    return {
      acts: [() => decide(0, 'approve'), () => decide(1, other)],
      async check(told) {
        exactlyOne(told)
        const isApproved = told[0].status === 200 || other === 'approve'
        const filter = `reason = "${name}"`
        expect(await count(who.admin, '/service-policies', filter)).toBe(isApproved ? 1 : 0)
        await who.admin('DELETE', `/identities/${who.id}`)
      },
    }
  }

/** Every pair of operations that contradict each other. */
export function racePairs(serviceId: string): readonly (readonly [string, Prepare])[] {
  return [
    ...Object.keys(ENDS).flatMap((end) =>
      Object.keys(REQUESTS).map((what) => [`${what} of who is ${end}`, whileEnding(end, what, serviceId)] as const),
    ),
    ['verification and removal of MFA', verifyAndRemoveMfa],
    ['one enrollment redeemed twice', redeemTwice],
    ['one name given twice', sameName],
    ['an auth policy deleted and used', policyInUse],
    ['a terminator of a service that is deleted', terminatorOfDeleted],
    ['a session by a policy that is lost', sessionOfLostPolicy(serviceId)],
    ['an access request approved twice', decidedTwice('approve', serviceId)],
    ['an access request approved and refused', decidedTwice('refuse', serviceId)],
    ['changes by an administrator who is demoted', demoted],
    ['two administrators who disable each other', lastAdministrators],
  ]
}
