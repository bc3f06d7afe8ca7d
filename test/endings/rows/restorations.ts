import { CLAIM } from '../../support/third-party.ts'
import type { Ending } from '../ending.ts'
import { WAYS } from '../ways.ts'
import { say } from './directory-entries.ts'
import { METHODS, patchIdentity } from './identities.ts'

/** Changes that give back what an ending took: everything derived before stays over. */
export const RESTORATIONS: readonly Ending[] = [
  {
    name: 'identity enabled',
    ways: WAYS,
    end: ({ admin, subject }) => admin('POST', `/identities/${subject.id}/enable`),
  },
  {
    name: 'identity known to the directory, and not disabled',
    ways: WAYS,
    end: (stage) => say(stage, { roleAttributes: [stage.subject.way] }),
  },
  { name: 'directory that gives nothing', ways: WAYS, end: (stage) => say(stage, { roleAttributes: [] }) },
  {
    name: 'role attributes read from claims',
    ways: ['jwt', 'signed'],
    end: ({ admin, network: { signer } }) =>
      admin('PATCH', `/external-jwt-signers/${signer.id}`, { attributeClaimsSelector: '/groups' }),
  },
  { name: 'permissions given', ways: WAYS, end: (stage) => patchIdentity(stage, { permissions: ['service', 'ops'] }) },
  { name: 'no administrator any more', ways: WAYS, end: (stage) => patchIdentity(stage, { isAdmin: false }) },
  {
    name: 'external id given back',
    ways: ['claim', 'jwt', 'signed'],
    end: (stage) => patchIdentity(stage, { externalId: `${stage.subject.way}@example` }),
  },
  {
    name: 'role attributes given back',
    ways: WAYS,
    end: (stage) => patchIdentity(stage, { roleAttributes: [stage.subject.way] }),
  },
  {
    name: 'auth policy of before',
    ways: WAYS,
    end: (stage) => patchIdentity(stage, { authPolicyId: stage.subject.policyId }),
  },
  {
    name: 'method allowed',
    ways: WAYS,
    end: ({ admin, subject }) =>
      admin('PATCH', `/auth-policies/${subject.policyId}`, { primary: { [METHODS[subject.way]]: { allowed: true } } }),
  },
  {
    name: 'any signer allowed',
    ways: ['jwt'],
    end: ({ admin, subject }) =>
      admin('PATCH', `/auth-policies/${subject.policyId}`, { primary: { extJwt: { allowedSigners: [] } } }),
  },
  {
    name: 'second factor not demanded',
    ways: ['password', 'cert', 'ca', 'claim', 'jwt'],
    end: ({ admin, subject }) =>
      admin('PATCH', `/auth-policies/${subject.policyId}`, {
        secondary: { requireTotp: false, requireExtJwtSigner: '' },
      }),
  },
  {
    name: 'signers enabled and as they were',
    ways: ['jwt', 'signed'],
    end: async ({ admin, network }) => {
      for (const { id, issuer } of [network.signer, network.second]) {
        const body = { enabled: true, issuer, audience: 'network', claimsProperty: 'sub', useExternalId: true }
        await admin('PATCH', `/external-jwt-signers/${id}`, body)
      }
    },
  },
  {
    name: 'third parties trusted',
    ways: ['ca', 'claim', 'jwt', 'signed'],
    end: async ({ admin, network: { ca, claimCa, signer, second } }) => {
      for (const { id } of [ca, claimCa, signer, second]) {
        await admin('PUT', `/portcullis/v1/trust-anchors/${id}`, { mayAuthenticateAdmins: true })
      }
    },
  },
  {
    name: 'CAs that authenticate',
    ways: ['ca', 'claim'],
    end: async ({ admin, network: { ca, claimCa } }) => {
      await admin('PATCH', `/cas/${ca.id}`, { isAuthEnabled: true })
      await admin('PATCH', `/cas/${claimCa.id}`, { isAuthEnabled: true, externalIdClaim: CLAIM })
    },
  },
  {
    name: 'Dial policy for the identity',
    ways: WAYS,
    end: ({ admin, subject }) =>
      admin('PATCH', `/service-policies/${subject.dials.policyId}`, {
        type: 'Dial',
        identityRoles: [`#${subject.way}`],
      }),
  },
]
