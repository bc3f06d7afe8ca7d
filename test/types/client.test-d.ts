// Compiled by `npm run check:types`, never run: how the typed clients may and may not be used.
import { createClient, createManagementClient } from 'portcullis/client'

const management = createManagementClient({ baseUrl: 'https://controller.example.org' })
const client = createClient({ baseUrl: 'https://controller.example.org' })

export async function use(): Promise<readonly (string | undefined)[]> {
  const created = await management.call('POST /identities', {
    body: { name: 'laptop', type: 'Device', isAdmin: false, enrollment: { ott: true } },
  })
  const params = { id: created.data.id }
  const identity = await management.call('GET /identities/{id}', { params })
  const policies = await management.call('GET /service-policies', { query: { filter: 'true', limit: 5 } })
  const session = await client.call('POST /sessions', { body: { serviceId: 'web', type: 'Dial' } })
  const login = await client.call('POST /authenticate', { query: { method: 'cert' } })
  await management.call('PATCH /identities/{id}', { params, body: { roleAttributes: ['staff'] } })
  const jwt: string = await management.call('GET /cas/{id}/jwt', { params })
  const png: Uint8Array = await client.call('GET /current-identity/mfa/qr-code')
  return [
    identity.data.enrollment.ott?.jwt,
    identity.data.authPolicy?.name,
    policies.data[0]?.identityRolesDisplay[0]?.name,
    session.data.edgeRouters[0]?.urls.tls,
    login.data.token,
    jwt,
    String(png.length),
  ]
}

export async function misuse(): Promise<void> {
  // @ts-expect-error an identity needs a type
  await management.call('POST /identities', { body: { name: 'laptop', isAdmin: false } })
  // @ts-expect-error there is no such operation
  await management.call('GET /nothing')
  // @ts-expect-error the path has a parameter
  await management.call('GET /identities/{id}', {})
  // @ts-expect-error the client API does not create identities
  await client.call('POST /identities', { body: {} })
  // @ts-expect-error sessions dial or bind
  await client.call('POST /sessions', { body: { serviceId: 'web', type: 'Listen' } })
  const { data } = await management.call('GET /services')
  // @ts-expect-error the digest of a token is never shown
  data[0].tokenDigest
}
