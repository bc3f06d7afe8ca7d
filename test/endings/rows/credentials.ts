import { X509Certificate } from 'node:crypto'
import { openOperator } from 'portcullis'
import { plainPasswordHasher, recordingLogger } from 'portcullis/testing'
import { createCsrPem, createKeys, issueClient, pemOf } from '../../support/certificates/certificates.ts'
import { CLAIM } from '../../support/third-party.ts'
import { totp } from '../../support/totp.ts'
import type { Ending, Stage } from '../ending.ts'
import type { Scene } from '../scene.ts'
import type { Asking } from '../two-processes.ts'
import { PASSWORD, THIRD_PARTY_ENDS } from '../ways.ts'
import { must } from './asking.ts'

const CLIENT_API = '/edge/client/v1'
const MANAGEMENT_API = '/edge/management/v1'
const OTHER_PASSWORD = 'Another-Horse-1'

async function authenticatorOf({ admin, subject }: Stage): Promise<string> {
  const method = subject.certificate === undefined ? 'updb' : 'cert'
  const found = await admin(
    'GET',
    `/authenticators?filter=${encodeURIComponent(`identity="${subject.id}" and method="${method}"`)}`,
  )
  return found[0].id
}

const signerOf = ({ network, subject }: Stage) => (subject.way === 'signed' ? network.second.id : network.signer.id)
const caOf = ({ network, subject }: Stage) => (subject.way === 'claim' ? network.claimCa.id : network.ca.id)
const patchSigner = (stage: Stage, body: object) =>
  stage.admin('PATCH', `/external-jwt-signers/${signerOf(stage)}`, body)
const patchCa = (stage: Stage, body: object) => stage.admin('PATCH', `/cas/${caOf(stage)}`, body)
const NO_ENROLLMENT = { isAutoCaEnrollmentEnabled: false, isOttCaEnrollmentEnabled: false }
const distrust = (stage: Stage, id: string) =>
  stage.admin('PUT', `/portcullis/v1/trust-anchors/${id}`, { mayAuthenticateAdmins: false })

/** Somebody who may manage signers, and has the rights of those whom they let in, changes the one of the subject. */
async function editAsDelegate(stage: Stage, body: object): Promise<void> {
  const username = `delegate-${stage.two.now()}`
  const identity = {
    name: username,
    type: 'User',
    isAdmin: false,
    permissions: ['external-jwt-signer', 'ops', 'service'],
  }
  const { id } = await stage.admin('POST', '/identities', identity)
  await stage.admin('POST', '/authenticators', { method: 'updb', identityId: id, username, password: PASSWORD })
  const login = { json: { username, password: PASSWORD } }
  const zt = (await stage.by.ask('POST', `${MANAGEMENT_API}/authenticate?method=password`, login)).body.data.token
  await must(stage.by.ask('PATCH', `${MANAGEMENT_API}/external-jwt-signers/${signerOf(stage)}`, { zt, json: body }))
}

/** The holder of a certificate of the network has the next one made, and confirms it, in the session that it shows. */
async function extendCertificate(stage: Stage, session: Asking): Promise<void> {
  const path = `${CLIENT_API}/current-identity/authenticators/${await authenticatorOf(stage)}`
  const asking = { ...session, certificate: stage.subject.certificate }
  const clientCertCsr = await createCsrPem({ keys: await createKeys() })
  const { body } = await stage.by.ask('POST', `${path}/extend`, { ...asking, json: { clientCertCsr } })
  const { clientCert } = body.data
  await must(stage.by.ask('POST', `${path}/extend-verify`, { ...asking, json: { clientCert } }))
}

/** Expired certificates are refused to the subject. */
const expiry = (allowExpiredCerts: boolean) => (scene: Scene) =>
  scene
    .process('A')
    .told('PATCH', `/auth-policies/${scene.subject.policyId}`, { primary: { cert: { allowExpiredCerts } } })

export const CREDENTIAL_ENDINGS: readonly Ending[] = [
  {
    name: 'password changed by an administrator',
    ways: ['password', 'totp', 'signed'],
    ends: ['credential'],
    end: async (stage) => {
      await stage.admin('PATCH', `/authenticators/${await authenticatorOf(stage)}`, { password: OTHER_PASSWORD })
    },
  },
  {
    name: 'password changed by its holder',
    ways: ['password'],
    ends: ['credential'],
    end: async (stage) => {
      const path = `${CLIENT_API}/current-identity/authenticators/${await authenticatorOf(stage)}`
      const json = { username: stage.subject.username, password: OTHER_PASSWORD, currentPassword: PASSWORD }
      await must(stage.by.ask('PUT', path, { zt: stage.held.A.zt, json }))
    },
  },
  {
    name: 'password changed, and changed back',
    isOfItself: true,
    ways: ['password'],
    ends: ['zt-A', 'zt-B', 'bearer-A', 'bearer-B', 'begun'],
    end: async (stage) => {
      const id = await authenticatorOf(stage)
      await stage.admin('PATCH', `/authenticators/${id}`, { password: OTHER_PASSWORD })
      await stage.admin('PATCH', `/authenticators/${id}`, { password: PASSWORD })
    },
  },
  {
    name: 'authenticator deleted',
    ways: ['password', 'totp', 'cert', 'ca'],
    end: async (stage) => {
      await stage.admin('DELETE', `/authenticators/${await authenticatorOf(stage)}`)
    },
  },
  {
    name: 'authenticator sent to enroll again',
    ways: ['password', 'cert'],
    end: async (stage) => {
      const expiresAt = new Date(stage.two.now() + 3_600_000).toISOString()
      await stage.admin('POST', `/authenticators/${await authenticatorOf(stage)}/re-enroll`, { expiresAt })
    },
  },
  {
    name: 'certificate extended by its holder',
    ways: ['cert'],
    ends: ['credential', 'kept-zt-A'],
    end: (stage) => extendCertificate(stage, { zt: stage.held.A.zt }),
  },
  {
    name: 'authority that issued the certificate ended',
    ways: ['cert'],
    ends: ['credential', 'authority'],
    end: async (stage) => {
      const keys = '/portcullis/v1/pki'
      await stage.admin('POST', `${keys}/rotations`, { what: 'signing' })
      // It signs when every process has had the time to trust it.
      await stage.elapse(30_000)
      const { authorities } = await stage.admin('GET', keys)
      const former = authorities.find(({ state }: { readonly state: string }) => state === 'former')
      const goodUntil = new Date(stage.two.now()).toISOString()
      await stage.admin('PATCH', `${keys}/authorities/${former.id}`, { goodUntil, locksOut: true })
    },
  },
  {
    name: 'certificate extended by its holder with an access token',
    ways: ['cert'],
    ends: ['credential', 'kept-bearer-A'],
    end: (stage) => extendCertificate(stage, { bearers: [stage.held.A.tokens.access] }),
  },
  {
    name: 'password of an administrator reset by the owner of the store',
    ways: ['password', 'totp'],
    ends: ['credential'],
    prepare: (scene) => scene.process('A').told('PATCH', `/identities/${scene.subject.id}`, { isAdmin: true }),
    end: async ({ two, subject }) => {
      const storage = await two.store.open()
      const clock = { now: () => two.now() }
      const operator = await openOperator({
        storage,
        clock,
        passwordHasher: plainPasswordHasher,
        logger: recordingLogger(),
      })
      await operator.resetAdminPassword({ username: subject.username, password: OTHER_PASSWORD })
      await operator.close()
    },
  },
  {
    name: 'MFA enrolled by its holder',
    ways: ['password', 'cert', 'jwt'],
    // Who enrolls a factor has passed it in that session, which what was demanded before does not shut any more.
    isOfItself: true,
    end: async ({ by, held, two }) => {
      const zt = held.A.zt
      const path = `${CLIENT_API}/current-identity/mfa`
      await must(by.ask('POST', path, { zt }))
      const { provisioningUrl } = (await by.ask('GET', path, { zt })).body.data
      const code = totp(new URL(provisioningUrl).searchParams.get('secret') ?? '', two.now())
      await must(by.ask('POST', `${path}/verify`, { zt, json: { code } }))
    },
  },
  {
    name: 'MFA taken away by an administrator',
    ways: ['totp'],
    end: ({ admin, subject }) => admin('DELETE', `/identities/${subject.id}/mfa`),
  },
  {
    name: 'MFA taken away by its holder',
    ways: ['totp'],
    end: async ({ by, held, logins }) => {
      await must(
        by.ask('DELETE', `${CLIENT_API}/current-identity/mfa`, {
          zt: held.A.zt,
          headers: { 'mfa-validation-code': logins.code() },
        }),
      )
    },
  },
  {
    name: 'password locked by wrong ones',
    ways: ['password'],
    ends: ['locked'],
    prepare: ({ process, subject }) =>
      process('A').told('PATCH', `/auth-policies/${subject.policyId}`, {
        primary: { updb: { maxAttempts: 2, lockoutDurationMinutes: 0 } },
      }),
    end: async ({ by, subject: { username } }) => {
      for (const password of ['wrong-1', 'wrong-2', 'wrong-3']) {
        await by.ask('POST', `${CLIENT_API}/authenticate?method=password`, { json: { username, password } })
      }
    },
  },
  {
    name: 'another authenticator of the identity deleted',
    ways: ['cert', 'ca', 'jwt'],
    prepare: ({ process, subject: { id: identityId, username } }) =>
      process('A').create('/authenticators', { method: 'updb', identityId, username, password: PASSWORD }),
    end: async ({ admin, subject: { id } }) => {
      const filter = encodeURIComponent(`identity="${id}" and method="updb"`)
      for (const found of await admin('GET', `/authenticators?filter=${filter}`))
        await admin('DELETE', `/authenticators/${found.id}`)
    },
  },
  {
    name: 'recovery codes made anew by their holder',
    ways: ['totp'],
    end: async ({ by, held, logins }) => {
      const path = `${CLIENT_API}/current-identity/mfa/recovery-codes`
      await must(by.ask('POST', path, { zt: held.A.zt, json: { code: logins.code() } }))
    },
  },
  {
    name: 'CA disabled, and enabled again',
    ways: ['ca', 'claim'],
    end: async (stage) => {
      const externalIdClaim = stage.subject.way === 'claim' ? CLAIM : null
      await patchCa(stage, { isAuthEnabled: false, externalIdClaim })
      await stage.see()
      await stage.elapse(2000)
      await patchCa(stage, { isAuthEnabled: true, externalIdClaim })
    },
  },
  { name: 'CA that enrolls nobody any more', ways: ['ca', 'claim'], end: (stage) => patchCa(stage, NO_ENROLLMENT) },
  { name: 'signer disabled', ways: ['jwt', 'signed'], end: (stage) => patchSigner(stage, { enabled: false }) },
  {
    name: 'signer disabled, and enabled again',
    ways: ['jwt'],
    end: async (stage) => {
      await patchSigner(stage, { enabled: false })
      await stage.see()
      await stage.elapse(2000)
      await patchSigner(stage, { enabled: true })
    },
  },
  {
    name: 'signer deleted',
    ways: ['jwt'],
    end: (stage) => stage.admin('DELETE', `/external-jwt-signers/${signerOf(stage)}`),
  },
  {
    name: 'issuer of a signer changed',
    ways: ['jwt', 'signed'],
    end: (stage) => patchSigner(stage, { issuer: 'https://elsewhere.example' }),
  },
  {
    name: 'audience of a signer changed',
    ways: ['jwt'],
    end: (stage) => patchSigner(stage, { audience: 'elsewhere' }),
  },
  {
    name: 'key of a signer changed',
    ways: ['jwt', 'signed'],
    end: async (stage) =>
      patchSigner(stage, { certPem: pemOf(await issueClient({ subject: 'CN=other', notAfter: THIRD_PARTY_ENDS })) }),
  },
  { name: 'claim of a signer changed', ways: ['jwt'], end: (stage) => patchSigner(stage, { claimsProperty: 'email' }) },
  {
    name: 'signer that names identities by id',
    ways: ['jwt'],
    end: (stage) => patchSigner(stage, { useExternalId: false }),
  },
  {
    name: 'signer edited by a delegate',
    ways: ['jwt', 'signed'],
    end: (stage) => editAsDelegate(stage, { externalAuthUrl: 'https://elsewhere.example/authorize' }),
  },
  {
    name: 'signer renamed by a delegate',
    ways: ['jwt', 'signed'],
    end: (stage) => editAsDelegate(stage, { name: 'other' }),
  },
  { name: 'trust of a signer withdrawn', ways: ['jwt', 'signed'], end: (stage) => distrust(stage, signerOf(stage)) },
  {
    name: 'certificate of a signer expired',
    ways: ['jwt', 'signed'],
    startsAt: () => THIRD_PARTY_ENDS - 60_000,
    end: ({ elapse }) => elapse(60_000),
  },
  { name: 'CA deleted', ways: ['ca', 'claim'], end: (stage) => stage.admin('DELETE', `/cas/${caOf(stage)}`) },
  {
    name: 'CA that authenticates nobody any more',
    ways: ['ca', 'claim'],
    end: (stage) =>
      patchCa(stage, { isAuthEnabled: false, externalIdClaim: stage.subject.way === 'claim' ? CLAIM : null }),
  },
  { name: 'trust of a CA withdrawn', ways: ['ca', 'claim'], end: (stage) => distrust(stage, caOf(stage)) },
  {
    name: 'claim of a CA changed',
    ways: ['claim'],
    end: (stage) => patchCa(stage, { externalIdClaim: { ...CLAIM, location: 'SAN_EMAIL' } }),
  },
  {
    name: 'certificate of a third party expired',
    ways: ['ca', 'claim'],
    startsAt: () => THIRD_PARTY_ENDS - 60_000,
    prepare: expiry(false),
    end: ({ elapse }) => elapse(60_000),
  },
  {
    name: 'expired certificates refused from now on',
    ways: ['ca', 'claim'],
    startsAt: () => THIRD_PARTY_ENDS + 60_000,
    end: async (scene) => {
      await expiry(false)(scene)
    },
  },
  {
    name: 'certificate of the network expired',
    ways: ['cert'],
    startsAt: ({ subjects }) =>
      new X509Certificate(subjects.cert.certificate?.cert ?? '').validToDate.getTime() - 60_000,
    prepare: expiry(false),
    end: ({ elapse }) => elapse(61_000),
  },
]
