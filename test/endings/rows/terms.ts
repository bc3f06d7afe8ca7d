import type { Ending, Stage } from '../ending.ts'
import type { Scene } from '../scene.ts'
import { WAYS } from '../ways.ts'
import { must } from './asking.ts'

/** Milliseconds from the login to the end of a term: logins under way and tokens of signers outlast it. */
const TERM_MS = 240_000
const MINUTE_MS = 60_000

type Use = 'dials' | 'hosts'

const instantOf = (ms: number) => new Date(ms).toISOString()

/** Gives the subject rights that end by themselves, before it logs in. */
const withRights = (rights: object) => (scene: Scene) => {
  const rightsUntil = instantOf(scene.two.now() + TERM_MS)
  return scene.process('A').told('PATCH', `/identities/${scene.subject.id}`, { ...rights, rightsUntil })
}

/** The subject loses what its policy grants, asks for it, and an administrator approves that. */
const onRequest = (use: Use) => async (scene: Scene) => {
  const { subject, logins } = scene
  const at = scene.process('A')
  const { serviceId: service, policyId } = subject[use]
  await at.told('PATCH', `/service-policies/${policyId}`, { identityRoles: ['#others'] })
  const asking = { zt: await logins.session(at), ...(await logins.beside()) }
  const type = use === 'dials' ? 'Dial' : 'Bind'
  const json = { service, type, durationMs: TERM_MS, reason: 'a slow database' }
  const asked = at.ask('POST', '/portcullis/v1/access-requests', { ...asking, json })
  await must(asked)
  await at.told('POST', `/portcullis/v1/access-requests/${(await asked).body.data.id}/approve`, {})
}

/** The subject has the role attributes, which nobody stored, by a grant. */
const byGrant = async ({ process, subject, two }: Scene) => {
  const at = process('A')
  const grant = { attribute: subject.way, until: instantOf(two.now() + TERM_MS), reason: 'a slow database' }
  await at.told('POST', `/portcullis/v1/identities/${subject.id}/attribute-grants`, grant)
  await at.told('PATCH', `/identities/${subject.id}`, { roleAttributes: [] })
}

const whenOver = ({ elapse }: Stage) => elapse(TERM_MS)
const withoutA = async ({ two, elapse }: Stage) => {
  await two.A.close()
  await elapse(TERM_MS)
}

/** Moves the beginning of what grants access into the future. */
const beginLater = ({ admin, two, subject }: Stage, use: Use, ms: number) =>
  admin('PATCH', `/service-policies/${subject[use].policyId}`, { startsAt: instantOf(two.now() + ms) })

/** Rights and access that end by themselves, or begin later. */
export const TERM_ENDINGS: readonly Ending[] = [
  {
    name: 'rights of an administrator over by their term',
    ways: WAYS,
    prepare: withRights({ isAdmin: true }),
    end: whenOver,
  },
  {
    name: 'rights of an administrator over by their term, without the process that made the session',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    prepare: withRights({ isAdmin: true }),
    end: withoutA,
  },
  {
    name: 'permissions over by their term',
    ways: ['password', 'claim', 'jwt'],
    prepare: withRights({}),
    end: whenOver,
  },
  {
    name: 'Dial policy over by its term, without the process that made the session',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    prepare: ({ process, two, subject }) => {
      const until = instantOf(two.now() + TERM_MS)
      return process('A').told('PATCH', `/service-policies/${subject.dials.policyId}`, { until })
    },
    end: withoutA,
  },
  {
    name: 'Dial policy that begins later',
    ways: ['password', 'jwt'],
    end: (stage) => beginLater(stage, 'dials', TERM_MS),
  },
  { name: 'Bind policy that begins later', ways: ['password'], end: (stage) => beginLater(stage, 'hosts', TERM_MS) },
  {
    name: 'Dial policy that begins later, and has begun',
    ways: ['password'],
    end: async (stage) => {
      await beginLater(stage, 'dials', MINUTE_MS)
      await stage.see()
      await stage.elapse(MINUTE_MS)
    },
  },
  { name: 'role attributes by a grant over by its term', ways: WAYS, prepare: byGrant, end: whenOver },
  {
    name: 'role attributes by a grant over by its term, without the process that made the session',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    prepare: byGrant,
    end: withoutA,
  },
  {
    name: 'grant of role attributes ended by an administrator',
    ways: ['password', 'claim'],
    prepare: byGrant,
    end: async ({ admin, subject }) => {
      const path = `/identities/${subject.id}`
      const { attributeGrants } = await admin('GET', path)
      await admin('DELETE', `/portcullis/v1${path}/attribute-grants/${attributeGrants[0].id}`)
    },
  },
  { name: 'Dial access on request over by its term', ways: WAYS, prepare: onRequest('dials'), end: whenOver },
  {
    name: 'Dial access on request over by its term, without the process that made the session',
    ways: ['password', 'jwt'],
    ends: ['process-A'],
    prepare: onRequest('dials'),
    end: withoutA,
  },
  {
    name: 'Bind access on request over by its term',
    ways: ['password', 'cert'],
    prepare: onRequest('hosts'),
    end: whenOver,
  },
]
