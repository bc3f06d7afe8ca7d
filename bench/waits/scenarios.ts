import type { Storage } from 'portcullis'
import type { WriteTransaction } from 'portcullis/storage'
import { SYSTEM_CALL } from '../../src/context/call.ts'
import type { ControllerEngine } from '../../src/engine/engine.ts'
import { servicePolicies } from '../../src/facts/access/policy.resource.ts'
import { sessions } from '../../src/facts/access/session.resource.ts'
import { authenticators } from '../../src/facts/credentials/authenticator.resource.ts'
import { cas } from '../../src/facts/enrollment/ca.resource.ts'
import { identities } from '../../src/facts/identities/identity.resource.ts'
import { apiSessions } from '../../src/facts/login/api-session.resource.ts'
import { edgeRouters } from '../../src/facts/routers/edge-router.resource.ts'
import { services } from '../../src/facts/services/service.resource.ts'
import { terminators } from '../../src/facts/services/terminator.resource.ts'
import type { RecordOf, Resource } from '../../src/kernel/declaration/resource.ts'

/** One request that takes much away: the setup that stores about `count` records, and the request. */
export interface Scenario {
  readonly name: string
  seed(storage: Storage, count: number): Promise<void>
  act(engine: ControllerEngine): Promise<unknown>
}

/** How many records are inserted in one write. */
const AT_ONCE = 1000
/** Service sessions of one API session. */
const PER_API_SESSION = 100

/** The service that the other writer changes. */
export const OTHER = 'other'

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'delete an identity with its sessions',
    seed: (storage, count) => seedSessions(storage, count),
    act: (engine) => engine.of(identities).delete(SYSTEM_CALL, 'owner'),
  },
  {
    name: 'disable an identity with its sessions',
    seed: (storage, count) => seedSessions(storage, count),
    act: (engine) => engine.identityState.disable(SYSTEM_CALL, 'owner', { durationMinutes: 0 }),
  },
  {
    name: 'promote an identity with sessions by tokens of a signer',
    seed: (storage, count) => seedSessions(storage, count, 'extJwtId:signer'),
    act: (engine) => engine.of(identities).patch(SYSTEM_CALL, 'owner', { isAdmin: true }),
  },
  {
    name: 'delete a service with sessions',
    seed: (storage, count) => seedSessions(storage, count),
    act: (engine) => engine.of(services).delete(SYSTEM_CALL, 'used'),
  },
  {
    name: 'take a role attribute away that carries sessions',
    seed: (storage, count) => seedSessions(storage, count),
    act: (engine) => engine.of(identities).patch(SYSTEM_CALL, 'owner', { roleAttributes: [] }),
  },
  {
    name: 'delete a service policy that carries sessions',
    seed: (storage, count) => seedSessions(storage, count),
    act: (engine) => engine.of(servicePolicies).delete(SYSTEM_CALL, 'policy'),
  },
  {
    name: 'delete a service with terminators, for which as many identities have costs',
    seed: async (storage, count) => {
      await seedNetwork(storage)
      await insertAll(storage, count / 2, async (insert, n) => {
        await insert(terminators, { id: `t${n}`, serviceId: 'used', routerId: 'router', address: `t${n}` })
        await insert(identities, { ...person(`i${n}`), serviceHostingCosts: { used: 10 } })
      })
    },
    act: (engine) => engine.of(services).delete(SYSTEM_CALL, 'used'),
  },
  {
    name: 'delete an identity that policies name',
    seed: async (storage, count) => {
      await seedNetwork(storage)
      const roles = { identityRoles: ['@owner'], serviceRoles: [], postureCheckRoles: [] }
      await insertAll(storage, count, (insert, n) =>
        insert(servicePolicies, { id: `p${n}`, name: `p${n}`, type: 'Dial', semantic: 'AnyOf', ...roles }),
      )
    },
    act: (engine) => engine.of(identities).delete(SYSTEM_CALL, 'owner'),
  },
  {
    name: 'delete a CA with authenticators and their API sessions',
    seed: async (storage, count) => {
      await seedNetwork(storage)
      await insertAll(storage, 1, (insert) => insert(cas, { id: 'ca', name: 'ca', fingerprint: 'f', certPem: '' }))
      await insertAll(storage, count / 2, async (insert, n) => {
        await insert(identities, person(`i${n}`))
        const authenticator = { id: `a${n}`, identityId: `i${n}`, method: 'cert', fingerprint: `f${n}`, caId: 'ca' }
        await insert(authenticators, authenticator)
        await insert(apiSessions, apiSession(`s${n}`, `i${n}`, `a${n}`))
      })
    },
    act: (engine) => engine.of(cas).delete(SYSTEM_CALL, 'ca'),
  },
  {
    name: 'take the tunneler from an edge router with sessions',
    seed: async (storage, count) => {
      await seedSessions(storage, count, 'internal', 'router')
      await insertAll(storage, 1, (insert) => insert(identities, { ...person('router'), typeId: 'Router' }))
    },
    act: (engine) => engine.of(edgeRouters).patch(SYSTEM_CALL, 'router', { isTunnelerEnabled: false }),
  },
]

type Insert = <R extends Resource>(resource: R, record: object) => Promise<void>

async function insertAll(
  storage: Storage,
  count: number,
  work: (insert: Insert, position: number) => Promise<void>,
): Promise<void> {
  for (let begin = 0; begin < count; begin += AT_ONCE) {
    await storage.write(async (tx) => {
      for (let n = begin; n < Math.min(count, begin + AT_ONCE); n += 1) await work(insertInto(tx), n)
    })
  }
}

function insertInto(tx: WriteTransaction): Insert {
  return async <R extends Resource>(resource: R, record: object) => {
    const base = { createdAt: 0, updatedAt: 0, tags: {} }
    // The defaults of the declaration fill in whatever the benchmark does not look at.
    await tx.collection(resource).insert({ ...resource.defaults, ...base, ...record } as unknown as RecordOf<R>)
  }
}

function person(id: string) {
  return { id, name: id, typeId: 'Device', externalId: null, roleAttributes: ['people'] }
}

function apiSession(id: string, identityId: string, authenticatorId: string) {
  return { id, identityId, authenticatorId, tokenDigest: id, method: 'cert', lastActivityAt: 0 }
}

async function seedNetwork(storage: Storage): Promise<void> {
  await insertAll(storage, 1, async (insert) => {
    await insert(identities, person('owner'))
    await insert(services, { id: OTHER, name: OTHER })
    await insert(services, { id: 'used', name: 'used' })
    await insert(edgeRouters, { id: 'router', name: 'router', isTunnelerEnabled: true, fingerprint: null })
    const roles = { identityRoles: ['#people'], serviceRoles: ['@used'], postureCheckRoles: [] }
    await insert(servicePolicies, { id: 'policy', name: 'policy', type: 'Dial', semantic: 'AnyOf', ...roles })
  })
}

/** Service sessions of an identity, in a hundredth as many API sessions. */
async function seedSessions(
  storage: Storage,
  count: number,
  authenticatorId = 'authenticator',
  identityId = 'owner',
): Promise<void> {
  await seedNetwork(storage)
  await insertAll(storage, count / PER_API_SESSION, (insert, n) =>
    insert(apiSessions, { ...apiSession(`api${n}`, identityId, authenticatorId), lastActivityAt: Date.now() }),
  )
  await insertAll(storage, count, (insert, n) => {
    const apiSessionId = `api${Math.floor(n / PER_API_SESSION)}`
    const facts = { apiSessionId, identityId, serviceId: 'used', type: 'Dial', servicePolicies: ['policy'] }
    return insert(sessions, { id: `session${n}`, ...facts })
  })
}
