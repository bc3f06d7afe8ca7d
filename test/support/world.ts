import type { ControllerEvents, EventName } from 'portcullis'
import type { ApiClient, ClientApi, ManagementApi } from 'portcullis/client'
import { createTestController, type TestController, type TestControllerOptions } from 'portcullis/testing'
import { onTestFinished } from 'vitest'
import { givePassword } from './identity-state.ts'
import { withSharedPki } from './shared-pki.ts'
import { sessions as sessionRecords } from './stored-records.ts'
import { totp } from './totp.ts'

/** An identity in an API session. */
export interface Person {
  readonly id: string
  readonly apiSessionId: string
  readonly api: ApiClient<ClientApi>
}

/** Policies of the test: what is left out selects nobody, nothing, and no check. */
export interface PolicyRoles {
  readonly type?: 'Dial' | 'Bind'
  readonly semantic?: 'AllOf' | 'AnyOf'
  readonly identityRoles?: readonly string[]
  readonly serviceRoles?: readonly string[]
  readonly postureCheckRoles?: readonly string[]
}

/** A controller with words for what a test needs. */
export interface World {
  readonly controller: TestController
  readonly admin: ApiClient<ManagementApi>
  person(name: string, roleAttributes?: readonly string[]): Promise<Person>
  /** A further API session of a person, which asks for configs of some types. */
  login(name: string, id: string, configTypes?: readonly string[]): Promise<Person>
  service(name: string, roleAttributes?: readonly string[]): Promise<string>
  policy(name: string, roles: PolicyRoles): Promise<string>
  mfaCheck(name: string, roleAttributes: readonly string[], rule?: MfaRule): Promise<string>
  domainCheck(name: string, roleAttributes: readonly string[], domain: string): Promise<string>
  /** Records that the person proved a second factor now. */
  passMfa(who: Person): Promise<void>
  /** Opens a session; answers its id. */
  open(who: Person, serviceId: string, type?: 'Dial' | 'Bind'): Promise<string>
  /** The ids of all sessions, sorted. */
  sessions(): Promise<readonly string[]>
  /** Every event of a name from now on. */
  heard<E extends EventName>(name: E): readonly ControllerEvents[E][]
}

export interface MfaRule {
  readonly timeoutSeconds?: number
  readonly promptOnWake?: boolean
  readonly promptOnUnlock?: boolean
}

/** Enrolls an identity in MFA, which its session has passed then; answers its recovery codes. */
async function enrollSecondFactor({ clock }: TestController, api: ApiClient<ClientApi>): Promise<string[]> {
  await api.call('POST /current-identity/mfa')
  const { provisioningUrl, recoveryCodes } = (await api.call('GET /current-identity/mfa')).data
  const secret = new URL(provisioningUrl ?? '').searchParams.get('secret') ?? ''
  await api.call('POST /current-identity/mfa/verify', { body: { code: totp(secret, clock.now()) } })
  return [...(recoveryCodes ?? [])]
}

/** A fresh controller in which one edge router serves everybody; gone when the test is. */
export async function world(options: TestControllerOptions = {}): Promise<World> {
  const controller = await createTestController(await withSharedPki(options))
  onTestFinished(() => controller.close())
  const admin = await controller.asAdmin()
  await admin.call('POST /edge-routers', { body: { name: 'router' } })
  const everybody = { name: 'all', semantic: 'AnyOf' as const, edgeRouterRoles: ['#all'] }
  await admin.call('POST /edge-router-policies', { body: { ...everybody, identityRoles: ['#all'] } })
  await admin.call('POST /service-edge-router-policies', { body: { ...everybody, serviceRoles: ['#all'] } })

  /** The recovery codes of those who have a second factor, which are good once each, at any time. */
  const recoveryCodes = new Map<string, string[]>()
  const login: World['login'] = async (name, id, configTypes = []) => {
    const anonymous = controller.client()
    const credentials = { username: `user ${name}`, password: 'Correct-Horse-1' }
    const body = { ...credentials, configTypes: [...configTypes] }
    const { data } = await anonymous.call('POST /authenticate', { query: { method: 'password' }, body })
    return { id, apiSessionId: data.id, api: anonymous.withToken(data.token) }
  }
  return {
    controller,
    admin,
    login,
    person: async (name, roleAttributes = []) => {
      const body = { name, type: 'User' as const, isAdmin: false, roleAttributes: [...roleAttributes] }
      const { data } = await admin.call('POST /identities', { body })
      await givePassword(controller, data.id, { username: `user ${name}`, password: 'Correct-Horse-1' })
      return login(name, data.id)
    },
    service: async (name, roleAttributes = []) => {
      const body = { name, roleAttributes: [...roleAttributes], encryptionRequired: true }
      const { data } = await admin.call('POST /services', { body })
      return data.id
    },
    policy: async (name, roles) => {
      const { data } = await admin.call('POST /service-policies', {
        body: {
          name,
          type: roles.type ?? 'Dial',
          semantic: roles.semantic ?? 'AnyOf',
          identityRoles: [...(roles.identityRoles ?? [])],
          serviceRoles: [...(roles.serviceRoles ?? [])],
          postureCheckRoles: [...(roles.postureCheckRoles ?? [])],
        },
      })
      return data.id
    },
    mfaCheck: async (name, roleAttributes, rule = {}) => {
      const body = { name, typeId: 'MFA' as const, roleAttributes: [...roleAttributes], ...rule }
      const { data } = await admin.call('POST /posture-checks', { body })
      return data.id
    },
    domainCheck: async (name, roleAttributes, domain) => {
      const body = { name, typeId: 'DOMAIN' as const, roleAttributes: [...roleAttributes], domains: [domain] }
      const { data } = await admin.call('POST /posture-checks', { body })
      return data.id
    },
    passMfa: async ({ id, api }) => {
      const codes = recoveryCodes.get(id)
      const code = codes?.pop()
      if (code !== undefined) return void (await api.call('POST /authenticate/mfa', { body: { code } }))
      if (codes !== undefined) await admin.call('DELETE /identities/{id}/mfa', { params: { id } })
      recoveryCodes.set(id, await enrollSecondFactor(controller, api))
    },
    open: async (who, serviceId, type = 'Dial') => {
      const { data } = await who.api.call('POST /sessions', { body: { serviceId, type } })
      return data.id
    },
    sessions: async () => {
      const { items } = await controller.storage.read((tx) => tx.collection(sessionRecords).find())
      return items.map(({ id }) => id).sort()
    },
    heard: (name) => {
      const events: ControllerEvents[typeof name][] = []
      controller.events.on(name, (event) => events.push(event))
      return events
    },
  }
}
