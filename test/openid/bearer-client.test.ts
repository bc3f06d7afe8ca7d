import { createManagementClient } from 'portcullis/client'
import { createTestController } from 'portcullis/testing'
import { expect, it } from 'vitest'
import { mountOf } from '../support/mount.ts'
import { openIdTokens } from '../support/openid.ts'
import { withSharedPki } from '../support/shared-pki.ts'

it('a client takes an access token as it takes the token of a session, and logs in again when it is over', async () => {
  await using net = await createTestController(await withSharedPki())
  const mounted = mountOf(net)
  const login = async () => (await openIdTokens(mounted)).access_token
  const connect = { baseUrl: 'https://controller.test:1280', fetch: (request: Request) => net.fetch(request) }
  const given = createManagementClient({ ...connect, token: await login() })
  expect((await given.call('GET /services')).data).toEqual([])
  expect(
    (
      await createManagementClient(connect)
        .withToken(await login())
        .call('GET /services')
    ).data,
  ).toEqual([])
  let logins = 0
  const own = createManagementClient({
    ...connect,
    login: () => {
      logins += 1
      return login()
    },
  })
  await own.call('GET /services')
  await net.elapse(24 * 3_600_000)
  await own.call('GET /services')
  expect(logins).toBe(2)
})
