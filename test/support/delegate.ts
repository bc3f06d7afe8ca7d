import { SYSTEM_CALL } from 'portcullis'
import { type ApiClient, createPortcullisClient, type PortcullisApi } from 'portcullis/client'
import type { TestController } from 'portcullis/testing'
import { givePassword } from './identity-state.ts'

/** An identity that holds some permissions, in an API session. */
export interface Delegate {
  readonly id: string
  readonly token: string
  readonly api: ApiClient<PortcullisApi>
}

/** A new identity with these permissions, that has logged in. */
export async function delegate(
  controller: TestController,
  name: string,
  permissions: readonly string[],
): Promise<Delegate> {
  const body = { name, type: 'User' as const, isAdmin: false, permissions: [...permissions] }
  const { id } = await controller.engine.identities.create(SYSTEM_CALL, body)
  const credentials = { username: `user-${name}`, password: 'Correct-Horse-1' }
  await givePassword(controller, id, credentials)
  const login = { query: { method: 'password' as const }, body: credentials }
  const { token } = (await controller.client().call('POST /authenticate', login)).data
  return { id, token, api: ownApi(controller, token) }
}

/** Our own API with the token of an API session. */
export function ownApi(controller: Pick<TestController, 'fetch'>, token: string): ApiClient<PortcullisApi> {
  return createPortcullisClient({
    baseUrl: 'https://controller.test',
    fetch: (request) => controller.fetch(request),
    token,
  })
}

/** The token of the admin of a test controller. */
export async function adminToken(controller: TestController): Promise<string> {
  const body = { username: 'admin', password: 'admin-password' }
  return (await controller.management.call('POST /authenticate', { query: { method: 'password' }, body })).data.token
}
