import { createPortcullisClient } from 'portcullis/client'
import type { TestController, TestDevice } from 'portcullis/testing'
import { createSigningRequest } from '../../adapters/network/enrollment/created-requests.ts'

/** Our own API as the admin. */
export async function pkiOf({ fetch, management }: TestController) {
  const body = { username: 'admin', password: 'admin-password' }
  const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body })
  return createPortcullisClient({
    baseUrl: 'https://controller.test',
    fetch: (request) => fetch(request),
    token: data.token,
  })
}

/** Extends the certificate of a device, which shows the new one from now on. */
export async function extend(device: Pick<TestDevice, 'call'>) {
  const session = (await device.call('GET /current-api-session')).data
  const id = session.authenticatorId ?? ''
  const { key, csr } = await createSigningRequest('device')
  const { data } = await device.call('POST /current-identity/authenticators/{id}/extend', {
    params: { id },
    body: { clientCertCsr: csr },
  })
  await device.call('POST /current-identity/authenticators/{id}/extend-verify', {
    params: { id },
    body: { clientCert: data.clientCert },
  })
  return { key, cert: data.clientCert, ca: data.ca }
}
