import { randomUUID } from 'node:crypto'
import { adminOf, CLIENT, create, type ForeignClient, foreignClient, read } from '../../contract/http/foreign-client.ts'
import { newKey, selfSigned, signingRequest } from '../../contract/http/signing-request.ts'
import { identityProvider } from '../../support/jwks-server.ts'
import { CLAIM, clientOf, newAuthority, now, registered, TRUSTED } from '../../support/third-party.ts'
import { LATER, type Scene } from './scene.ts'

const clientCsr = signingRequest(newKey())

/** Identities that enroll by every method. */
export const identities: Scene = async (open) => {
  const mounted = await open({ now })
  const admin = await adminOf(mounted)
  const anybody = foreignClient(mounted, CLIENT)
  const caId = await authorities(admin)
  const tokenOf = async (enrollment: object) => {
    const name = randomUUID()
    const id = await create(admin, '/identities', { name, type: 'User', isAdmin: false, enrollment })
    await read(admin, `/identities/${id}`)
    const [{ id: enrollmentId }] = (await admin.get(`/identities/${id}/enrollments`)).body.data
    await admin.get('/enrollments')
    await admin.post(`/enrollments/${enrollmentId}/refresh`, { expiresAt: LATER })
    return (await read(admin, `/enrollments/${enrollmentId}`)).token
  }
  await anybody.post('/enroll/ott', { token: await tokenOf({ ott: true }), clientCsr })
  await anybody.post(`/enroll?token=${await tokenOf({ ott: true })}`, { clientCsr })
  const password = 'secret-0'
  await anybody.post(`/enroll/updb?token=${await tokenOf({ updb: 'first' })}`, { username: 'first', password })
  await anybody.post(`/enroll?method=updb&token=${await tokenOf({ updb: 'second' })}`, { password })
  const root = await newAuthority('verified')
  const verified = await registered(admin, root, { name: 'verified', identityRoles: [] })
  const holder = async (name: string) => foreignClient(mounted, CLIENT, undefined, await clientOf(root, name))
  await (await holder('a')).post('/enroll/ottca', { token: await tokenOf({ ottca: verified }) })
  await (await holder('b')).post(`/enroll?method=ottca&token=${await tokenOf({ ottca: verified })}`, {})
  await (await holder('c')).post('/enroll/ca')
  await (await holder('d')).post('/enroll?method=ca', {})
  const identityId = await create(admin, '/identities', { name: 'e', type: 'User', isAdmin: false })
  await admin.post('/enrollments', { identityId, method: 'ottca', caId, expiresAt: LATER })
  await admin.post('/enrollments', { identityId, method: 'ottca', caId, expiresAt: LATER })
  await admin.get('/enrollments')
  await anybody.post('/enroll/ott', { token: 'unknown', clientCsr })
  await anybody.post('/enroll', {})
}

/** A CA that nobody has verified yet. */
async function authorities(admin: ForeignClient): Promise<string> {
  const certPem = selfSigned(newKey(), '/CN=unverified')
  const id = await create(admin, '/cas', { name: 'unverified', certPem, ...TRUSTED, externalIdClaim: CLAIM })
  await admin.get(`/cas/${id}`)
  await admin.get(`/cas/${id}/jwt`)
  await admin.send('POST', `/cas/${id}/verify`, { body: 'hello', headers: { 'content-type': 'text/plain' } })
  return id
}

/** Identities that enroll with the tokens of an external signer. */
export const tokens: Scene = async (open) => {
  const idp = await identityProvider()
  const mounted = await open({ allowPrivateJwks: true })
  const admin = await adminOf(mounted)
  await create(admin, '/external-jwt-signers', {
    name: 'idp',
    issuer: idp.issuer,
    audience: 'network',
    enabled: true,
    jwksEndpoint: idp.endpoint,
    enrollToCertEnabled: true,
    enrollToTokenEnabled: true,
  })
  const anybody = foreignClient(mounted, CLIENT)
  await anybody.get('/external-jwt-signers')
  for (const [sub, body] of [
    ['first', {}],
    ['second', { clientCsr }],
    ['second', { clientCsr }],
  ] as const) {
    const authorization = `Bearer ${await idp.token(mounted.clock.now(), { sub })}`
    await anybody.send('POST', '/enroll/token', { body, headers: { authorization } })
  }
}

/** Edge routers that enroll and extend their certificates, and the keys by which all know their controller. */
export const routers: Scene = async (open) => {
  const mounted = await open()
  const admin = await adminOf(mounted)
  const anybody = foreignClient(mounted, CLIENT)
  for (const isGeneric of [true, false]) {
    const id = await create(admin, '/edge-routers', { name: `router ${isGeneric}` })
    const { enrollmentToken: token } = await read(admin, `/edge-routers/${id}`)
    await admin.get('/enrollments')
    const key = newKey()
    const [client, server] = [signingRequest(key, `/CN=${id}`), signingRequest(newKey(), `/CN=${id}`)]
    const requests = { certCsr: client, serverCertCsr: server }
    const answer = isGeneric
      ? await anybody.post(`/enroll?method=erott&token=${token}`, requests)
      : await anybody.post('/enroll/erott', { token, clientCsr: client, serverCsr: server })
    const router = foreignClient(mounted, CLIENT, undefined, { cert: answer.body.data.cert, key })
    await router.post('/enroll/extend/router', requests)
    await admin.get(`/edge-routers/${id}`)
  }
  const [{ kid }] = (await anybody.get('/enroll/jwks')).body.keys
  await anybody.post('/enroll/challenge', { keyId: kid, nonce: randomUUID() })
  await anybody.post('/enroll/challenge', { keyId: 'unknown', nonce: randomUUID() })
}
