import 'reflect-metadata'
import { SignJWT } from 'jose'
import { createCsrPem, issueClient, pemOf } from './certificates/certificates.ts'
import type { ScriptedRequest } from './network-script.ts'
import type { Place } from './scripted-network.ts'
import { clientOf, newAuthority, now, TRUSTED } from './third-party.ts'

/** Requests, and what their own places stand for. */
export interface CredentialScript {
  readonly requests: readonly ScriptedRequest[]
  readonly places: Readonly<Record<string, Place>>
}

const HOUR_SECONDS = 3600
const password = 'a-device-password'

const request = (method: ScriptedRequest['method'], path: string, more: Partial<ScriptedRequest> = {}) => ({
  ...more,
  method,
  path,
})
const manage = (method: ScriptedRequest['method'], path: string, body?: object) =>
  request(method, `management/v1/${path}`, body && { body })

/** Acts of holders of credentials: certificates, CAs, MFA, posture, sessions, external JWTs and routers, one after the other. */
export async function credentialScript(): Promise<CredentialScript> {
  const authority = await newAuthority('third party')
  const issuer = await issueClient({ subject: 'CN=issuer' })
  const claims = { iss: 'https://idp.example', aud: 'network', sub: 'holder@idp', exp: now / 1000 + 24 * HOUR_SECONDS }
  const jwt = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'key' }).sign(issuer.keys.privateKey)
  const [enrolled, joined] = [await clientOf(authority, 'enrolled'), await clientOf(authority, 'joined')]
  const asHolder = (method: ScriptedRequest['method'], path: string, more: Partial<ScriptedRequest> = {}) =>
    request(method, `client/v1/${path}`, { ...more, as: 'holder' })
  const device = (name: string, enrollment: object) =>
    manage('POST', 'identities', { name, type: 'Default', isAdmin: false, roleAttributes: ['holders'], enrollment })
  const routerOf = (method: 'erott' | 'trott', kind: string, name: string) =>
    request('POST', `client/v1/enroll?method=${method}&token={enrollment-token/${kind}:${name}}`, {
      body: {
        certCsr: `{router-request/${kind}:${name}}`,
        serverCertCsr: `{router-request/${kind}:${name}}`,
      },
    })
  const requests: readonly ScriptedRequest[] = [
    device('holder', { ott: true }),
    manage('PATCH', 'identities/{identities/holder}', { externalId: 'holder@idp' }),
    request('POST', 'client/v1/enroll/ott', { body: { token: '{ott/holder}', clientCsr: await createCsrPem() } }),
    // The first login by a certificate notes how it was trusted.
    request('POST', 'client/v1/authenticate?method=cert', { body: {}, certificate: '{certificate/holder}' }),
    request('POST', 'client/v1/authenticate?method=cert', {
      body: {},
      certificate: '{certificate/holder}',
      keeps: 'holder',
      isRepeatable: true,
    }),
    manage('POST', 'authenticators', {
      method: 'updb',
      identityId: '{identities/holder}',
      username: 'holder',
      password,
    }),

    manage('POST', 'services', { name: 'vault', encryptionRequired: true }),
    manage('POST', 'posture-checks', { name: 'corporate', typeId: 'DOMAIN', domains: ['corp.example'] }),
    manage('POST', 'posture-checks', { name: 'second-factor', typeId: 'MFA', timeoutSeconds: -1 }),
    manage('POST', 'service-policies', {
      name: 'holders-dial',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#holders'],
      serviceRoles: ['@{services/vault}'],
      postureCheckRoles: ['@{posture-checks/corporate}', '@{posture-checks/second-factor}'],
    }),
    manage('POST', 'edge-routers', { name: 'edge' }),
    manage('POST', 'edge-router-policies', {
      name: 'all-routers',
      semantic: 'AnyOf',
      identityRoles: ['#all'],
      edgeRouterRoles: ['#all'],
    }),
    manage('POST', 'service-edge-router-policies', {
      name: 'all-services',
      semantic: 'AnyOf',
      serviceRoles: ['#all'],
      edgeRouterRoles: ['#all'],
    }),
    asHolder('POST', 'posture-response', {
      body: { id: '{posture-checks/corporate}', typeId: 'DOMAIN', domain: 'corp.example' },
    }),
    asHolder('POST', 'current-identity/mfa'),
    asHolder('POST', 'current-identity/mfa/verify', { body: { code: '{totp/holder}' } }),
    asHolder('POST', 'authenticate/mfa', { body: { code: '{totp/holder}' }, isRepeatable: true }),
    asHolder('POST', 'sessions', { body: { serviceId: '{services/vault}', type: 'Dial' } }),
    asHolder('GET', 'sessions'),
    manage('GET', 'identities/{identities/holder}/posture-data'),
    asHolder('POST', 'current-identity/mfa/recovery-codes', { body: { code: '{totp/holder}' }, isRepeatable: true }),
    asHolder('POST', 'posture-response-bulk', {
      body: [{ id: '{posture-checks/corporate}', typeId: 'DOMAIN', domain: 'elsewhere.example' }],
      isFollowedUp: true,
    }),
    asHolder('DELETE', 'current-identity/mfa', { headers: { 'mfa-validation-code': '{totp/holder}' } }),
    manage('DELETE', 'service-policies/{service-policies/holders-dial}'),

    manage('POST', 'cas', { name: 'third', certPem: pemOf(authority), ...TRUSTED }),
    request('POST', 'management/v1/cas/{cas/third}/verify', { text: '{proof/third}' }),
    device('joining', { ottca: '{cas/third}' }),
    request('POST', 'client/v1/enroll/ottca', { body: { token: '{ottca/joining}' }, certificate: joined.cert }),
    request('POST', 'client/v1/enroll?method=ca', { body: {}, certificate: enrolled.cert }),
    request('POST', 'client/v1/authenticate?method=cert', { body: {}, certificate: joined.cert }),
    manage('PATCH', 'cas/{cas/third}', { name: 'fourth' }),
    manage('DELETE', 'cas/{cas/fourth}'),

    manage('POST', 'external-jwt-signers', {
      name: 'idp',
      issuer: claims.iss,
      audience: claims.aud,
      enabled: true,
      useExternalId: true,
      certPem: pemOf(issuer),
      kid: 'key',
    }),
    request('POST', 'client/v1/authenticate?method=ext-jwt', {
      body: {},
      headers: { authorization: `Bearer ${jwt}` },
      isRepeatable: true,
    }),
    { ...manage('PATCH', 'external-jwt-signers/{external-jwt-signers/idp}', { enabled: false }), isFollowedUp: true },
    manage('DELETE', 'external-jwt-signers/{external-jwt-signers/idp}'),

    routerOf('erott', 'edge-routers', 'edge'),
    manage('POST', 'edge-routers/{edge-routers/edge}/re-enroll'),
    routerOf('erott', 'edge-routers', 'edge'),
    manage('POST', 'transit-routers', { name: 'transit' }),
    routerOf('trott', 'transit-routers', 'transit'),
    manage('DELETE', 'transit-routers/{transit-routers/transit}'),
    manage('DELETE', 'edge-routers/{edge-routers/edge}'),
    manage('DELETE', 'identities/{identities/holder}'),
  ]
  return {
    requests,
    places: {
      /** A signing request in which a router names itself. */
      'router-request': async ({ find }, place) => {
        const [kind = '', name = ''] = place.split(':')
        const { id } = await find(kind, name)
        return createCsrPem({ subject: `CN=${String(id)}` })
      },
      /** A certificate by the authority: it proves that those who registered it as a CA hold its key. */
      proof: async ({ find }, name) => {
        const { verificationToken } = await find('cas', name)
        return (await clientOf(authority, String(verificationToken))).cert
      },
    },
  }
}
