import {
  type AccessFacts,
  emptyPostureData,
  explainAccess,
  type PolicyUnderReview,
  type PostureCheck,
} from 'portcullis/policy'

// Internals: the closed lists, each of whose members has a row.
export { MISSING_KINDS, REASONS, WIRE_OBSTACLES } from '../../../src/facts/access/explain/index.ts'

export const NOW = Date.UTC(2026, 0, 1)

export const CORP: PostureCheck = { id: 'c1', name: 'corp domain', typeId: 'DOMAIN', domains: ['corp.example'] }

/** A policy that selects `alice` by #users and `web` by #web, unless told otherwise. */
export function policy(change: Partial<PolicyUnderReview> = {}): PolicyUnderReview {
  return {
    id: 'p1',
    name: 'users dial web',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: ['#users'],
    serviceRoles: ['#web'],
    checks: [],
    ...change,
  }
}

export const router = (id: string, isOnline = true) => ({ id, name: `router ${id}`, isOnline })

/** Alice may dial web over one router that is online, unless told otherwise. */
function facts(change: Partial<AccessFacts> = {}): AccessFacts {
  return {
    asked: { identity: 'alice', service: 'web' },
    type: 'Dial',
    at: NOW,
    identity: { id: 'i1', name: 'alice', roleAttributes: ['users'], isDisabled: false },
    service: { id: 's1', name: 'web', roleAttributes: ['web'] },
    policies: [policy()],
    posture: emptyPostureData(),
    apiSessionId: 'a1',
    identityRouters: [router('r1'), router('r2')],
    serviceRouters: [router('r1'), router('r3')],
    ...change,
  }
}

export const explained = (change: Partial<AccessFacts> = {}) => explainAccess(facts(change))
