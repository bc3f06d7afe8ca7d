import { authPolicy } from '../../support/people.ts'
import type { Ending, Stage } from '../ending.ts'
import { WAYS, type Way } from '../ways.ts'

const MINUTE_MS = 60_000
/** The member of an auth policy that allows a way. */
export const METHODS: Readonly<Record<Way, 'updb' | 'cert' | 'extJwt'>> = {
  password: 'updb',
  totp: 'updb',
  signed: 'updb',
  cert: 'cert',
  ca: 'cert',
  claim: 'cert',
  jwt: 'extJwt',
}

export const patchIdentity = ({ admin, subject }: Stage, body: object) =>
  admin('PATCH', `/identities/${subject.id}`, body)
const disable = ({ admin, subject }: Stage, durationMinutes: number) =>
  admin('POST', `/identities/${subject.id}/disable`, { durationMinutes })

/** A complete policy that demands what the one of the subject does, and forbids one method. */
function policyOf(
  { subject, network }: Pick<Stage, 'subject' | 'network'>,
  name: string,
  forbidden?: 'updb' | 'cert' | 'extJwt',
) {
  const requireExtJwtSigner = subject.way === 'signed' ? network.second.id : null
  const extJwt = { allowed: subject.way !== 'signed' }
  const policy = authPolicy(name, {}, { requireTotp: subject.way === 'totp', requireExtJwtSigner }, extJwt)
  if (forbidden !== undefined) Object.assign(policy.primary[forbidden], { allowed: false })
  return policy
}

export const IDENTITY_ENDINGS: readonly Ending[] = [
  { name: 'identity deleted', ways: WAYS, end: ({ admin, subject }) => admin('DELETE', `/identities/${subject.id}`) },
  { name: 'identity disabled', ways: WAYS, end: (stage) => disable(stage, 0) },
  {
    name: 'identity disabled for a minute, which is over',
    ways: ['password', 'jwt'],
    end: async (stage) => {
      await disable(stage, 1)
      await stage.see()
      await stage.elapse(MINUTE_MS)
    },
  },
  {
    name: 'identity disabled, and enabled again',
    ways: WAYS,
    end: async (stage) => {
      await disable(stage, 0)
      await stage.see()
      await stage.admin('POST', `/identities/${stage.subject.id}/enable`)
    },
  },
  { name: 'identity made an administrator', ways: WAYS, end: (stage) => patchIdentity(stage, { isAdmin: true }) },
  {
    name: 'identity given a further permission',
    ways: ['password', 'claim', 'jwt'],
    end: (stage) => patchIdentity(stage, { permissions: ['service', 'ops', 'config'] }),
  },
  {
    name: 'identity without its permissions',
    ways: ['password', 'cert'],
    end: (stage) => patchIdentity(stage, { permissions: [] }),
  },
  {
    name: 'external id of the identity changed',
    ways: ['claim', 'jwt', 'signed'],
    end: (stage) => patchIdentity(stage, { externalId: 'other@example' }),
  },
  {
    name: 'external id of the identity taken away',
    ways: ['claim', 'jwt'],
    end: (stage) => patchIdentity(stage, { externalId: '' }),
  },
  {
    name: 'auth policy replaced by another that allows the same',
    ways: ['password', 'cert', 'jwt'],
    end: async (stage) => {
      const id = (await stage.admin('POST', '/auth-policies', policyOf(stage, 'same'))).id
      await patchIdentity(stage, { authPolicyId: id })
    },
  },
  {
    name: 'auth policy replaced by another that forbids the method',
    ways: WAYS,
    end: async (stage) => {
      const id = (await stage.admin('POST', '/auth-policies', policyOf(stage, 'other', METHODS[stage.subject.way]))).id
      await patchIdentity(stage, { authPolicyId: id })
    },
  },
  {
    name: 'method forbidden by the auth policy',
    ways: WAYS,
    end: (stage) => {
      const method = METHODS[stage.subject.way]
      return stage.admin('PATCH', `/auth-policies/${stage.subject.policyId}`, {
        primary: { [method]: { allowed: false } },
      })
    },
  },
  {
    name: 'method forbidden, and allowed again',
    ways: ['password', 'jwt'],
    end: async (stage) => {
      const method = METHODS[stage.subject.way]
      const allow = (allowed: boolean) =>
        stage.admin('PATCH', `/auth-policies/${stage.subject.policyId}`, { primary: { [method]: { allowed } } })
      await allow(false)
      await stage.see()
      await stage.elapse(2000)
      await allow(true)
    },
  },
  {
    name: 'second factor demanded',
    ways: ['password', 'cert', 'ca', 'jwt'],
    end: ({ admin, subject }) =>
      admin('PATCH', `/auth-policies/${subject.policyId}`, { secondary: { requireTotp: true } }),
  },
  {
    name: 'token of a signer demanded',
    ways: ['password', 'cert'],
    end: ({ admin, subject, network }) =>
      admin('PATCH', `/auth-policies/${subject.policyId}`, { secondary: { requireExtJwtSigner: network.second.id } }),
  },
  {
    name: 'allowed signers narrowed to another',
    ways: ['jwt'],
    end: ({ admin, subject, network }) =>
      admin('PATCH', `/auth-policies/${subject.policyId}`, {
        primary: { extJwt: { allowedSigners: [network.second.id] } },
      }),
  },
  {
    name: 'everything renamed',
    ways: ['cert', 'ca', 'claim', 'jwt', 'signed'],
    end: async ({ admin, subject, network }) => {
      await admin('PATCH', `/identities/${subject.id}`, { name: 'renamed' })
      await admin('PATCH', `/auth-policies/${subject.policyId}`, { name: 'renamed' })
      await admin('PATCH', `/service-policies/${subject.dials.policyId}`, { name: 'renamed' })
      await admin('PATCH', `/services/${subject.dials.serviceId}`, { name: 'renamed' })
      for (const { id } of [network.signer, network.second])
        await admin('PATCH', `/external-jwt-signers/${id}`, { name: `renamed-${id}` })
      for (const { id } of [network.ca, network.claimCa]) await admin('PATCH', `/cas/${id}`, { name: `renamed-${id}` })
      await admin('PATCH', `/edge-routers/${network.r1.id}`, { name: 'renamed-router' })
    },
  },
]
