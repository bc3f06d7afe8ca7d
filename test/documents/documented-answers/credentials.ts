import { adminOf, CLIENT, create, foreignClient, MANAGEMENT, read } from '../../contract/http/foreign-client.ts'
import { enrolled } from '../../contract/http/scenario.ts'
import { newKey, signingRequest } from '../../contract/http/signing-request.ts'
import { apisOf, authPolicy, login, person } from '../../support/people.ts'
import { LATER, type Scene } from './scene.ts'

/** Certificates that their holders extend, and that an admin asks to have extended. */
export const certificates: Scene = async (open) => {
  const mounted = await open()
  const admin = await adminOf(mounted)
  for (const kind of ['api', 'management'] as const) {
    const device = await enrolled(mounted, admin, { name: kind })
    const api = device[kind]
    const { id } = (await api.get('/current-identity/authenticators')).body.data[0]
    const own = `/current-identity/authenticators/${id}`
    await admin.post(`/authenticators/${id}/request-extend`, { rollKeys: true })
    await foreignClient(mounted, CLIENT, undefined, device.certificate).post('/authenticate?method=cert', {})
    await admin.get('/api-sessions')
    await admin.get(`/authenticators/${id}`)
    await api.get(own)
    await api.put(own, { username: 'device', password: 'secret-1', currentPassword: 'secret-0' })
    const { clientCert } = (await api.post(`${own}/extend`, { clientCertCsr: signingRequest(newKey()) })).body.data
    await api.post(`${own}/extend-verify`, { clientCert: 'hello' })
    await api.post(`${own}/extend-verify`, { clientCert })
    await admin.get(`/authenticators/${id}`)
    await admin.post(`/authenticators/${id}/re-enroll`, { expiresAt: LATER })
  }
}

/** Passwords that their holders and an admin change. */
export const passwords: Scene = async (open) => {
  const mounted = await open()
  const admin = await adminOf(mounted)
  for (const kind of ['api', 'management'] as const) {
    const somebody = await person(mounted, admin, `somebody at ${kind}`)
    const api = (await apisOf(mounted, somebody))[kind]
    const { id } = (await api.get('/current-identity/authenticators')).body.data[0]
    const own = `/current-identity/authenticators/${id}`
    const { username, password, password: currentPassword } = somebody
    await api.get(own)
    await api.get('/current-identity')
    await api.patch(own, { currentPassword: 'mistaken' })
    await api.patch(own, { tags: { a: 1 }, currentPassword })
    await api.put(own, { username, password, currentPassword })
    const again = foreignClient(mounted, kind === 'api' ? CLIENT : MANAGEMENT)
    await again.post('/authenticate?method=password', { username, password: 'mistaken' })
    await again.post('/authenticate?method=nonsense', { username, password })
    const { token } = (await again.post('/authenticate?method=password', { username, password })).body.data
    const session = foreignClient(mounted, kind === 'api' ? CLIENT : MANAGEMENT, token)
    await session.delete('/current-api-session')
    await admin.get(`/authenticators/${id}`)
    await admin.post(`/authenticators/${id}/re-enroll`, { expiresAt: LATER })
    const { data } = (await admin.get('/enrollments')).body
    await admin.delete(`/enrollments/${data[0].id}`)
  }
  await login(mounted)
  const [session] = (await admin.get('/api-sessions?limit=1')).body.data
  await admin.delete(`/api-sessions/${session.id}`)
}

/** API sessions that still have to prove two more factors. */
export const incomplete: Scene = async (open) => {
  const mounted = await open()
  const admin = await adminOf(mounted)
  const requireExtJwtSigner = await create(admin, '/external-jwt-signers', {
    name: 'idp',
    issuer: 'https://idp.example',
    audience: 'network',
    enabled: true,
    jwksEndpoint: 'https://idp.example/jwks',
    clientId: 'app',
    externalAuthUrl: 'https://idp.example/auth',
    scopes: ['openid'],
  })
  const strict = authPolicy('strict', {}, { requireTotp: true, requireExtJwtSigner })
  const authPolicyId = await create(admin, '/auth-policies', strict)
  const alice = await person(mounted, admin, 'alice', { authPolicyId })
  const { api, management } = await apisOf(mounted, alice)
  for (const one of [api, management]) {
    await one.get('/current-api-session')
    await one.get('/current-identity')
    await one.get('/services')
  }
  await read(admin, '/api-sessions')
  await admin.delete(`/auth-policies/${authPolicyId}`)
}
