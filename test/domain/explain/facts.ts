import { apiDocuments } from 'portcullis'
import {
  type AccessFacts,
  emptyPostureData,
  explainAccess,
  type PolicyUnderReview,
  type PostureCheck,
} from 'portcullis/policy'

const { portcullis } = await apiDocuments('v0')
const { schema } = Object(portcullis.paths)['/explain'].post.responses['200'].content['application/json']

/** The values that the published document lists for a member of an explanation, in its order: each has a row of a test. */
function listed(...path: readonly string[]): readonly string[] {
  const member = path.reduce<unknown>((of, name) => Object(Object(of).items ?? of).properties[name], schema)
  const values: readonly (string | null)[] = Object(member).enum
  return values.filter((value) => value !== null)
}

export const REASONS = listed('data', 'reason')
export const WIRE_OBSTACLES = listed('data', 'wire', 'obstacle')
export const MISSING_KINDS = listed('data', 'policies', 'checks', 'missing', 'kind')

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
