import type { Ending, Stage } from '../ending.ts'
import type { Scene } from '../scene.ts'
import { otherThan, PROCESSES, type ProcessName } from '../two-processes.ts'
import { mayBeGone, must } from './asking.ts'

const WAYS = ['password', 'jwt'] as const
const remove = ({ admin }: Stage, path: string) => admin('DELETE', path)

/** Puts a check on the Dial policy of the subject. */
async function checked(scene: Scene, check: object, roleAttributes = ['checked']): Promise<string> {
  const at = scene.process('A')
  const id = await at.create('/posture-checks', { name: 'check', roleAttributes, ...check })
  await at.told('PATCH', `/service-policies/${scene.subject.dials.policyId}`, { postureCheckRoles: ['#checked'] })
  return id
}

/** Reports the posture of a session to the process that did not make it. */
async function reportPosture({ held, logins, process }: Stage, made: ProcessName, report: object): Promise<void> {
  const asking = { zt: held[made].zt, ...(await logins.beside()), json: report }
  await must(process(otherThan(made)).ask('POST', '/edge/client/v1/posture-response', asking))
}

const reportDomain = (stage: Stage, made: ProcessName, domain: string) =>
  reportPosture(stage, made, { typeId: 'DOMAIN', id: 'domain', domain })

/**
 * Puts a check on the Dial policy that both sessions of the subject pass; answers its id. It is made before the posture is
 * reported: where one of an earlier ending stands already, nothing becomes better.
 */
async function checkedWhileGood(stage: Stage): Promise<string> {
  const id = await checked(stage, DOMAIN, ['elsewhere'])
  for (const made of PROCESSES) await reportDomain(stage, made, 'corp.example')
  await stage.admin('PATCH', `/posture-checks/${id}`, { typeId: 'DOMAIN', roleAttributes: ['checked'] })
  await stage.elapse(2000)
  return id
}

/** Routers of an attribute alone are there for what selected all of them; takes the attribute away from a router again. */
async function onlyAttributed({ admin, network, subject, see, elapse }: Stage, router: 'r1' | 'r2'): Promise<void> {
  for (const { id } of [network.r1, network.r2])
    await admin('PATCH', `/edge-routers/${id}`, { roleAttributes: ['used'] })
  await admin('PATCH', `/edge-router-policies/${subject.routerPolicyId}`, { edgeRouterRoles: ['#used'] })
  await see()
  await elapse(2000)
  await admin('PATCH', `/edge-routers/${network[router].id}`, { roleAttributes: [] })
}

async function policyOf({ admin }: Stage, name: string): Promise<string> {
  const filter = encodeURIComponent(`name="${name}"`)
  return (await admin('GET', `/service-policies?filter=${filter}`))[0].id
}

const DOMAIN = { typeId: 'DOMAIN', domains: ['corp.example'] }

export const ACCESS_ENDINGS: readonly Ending[] = [
  {
    name: 'Dial policy deleted',
    ways: WAYS,
    end: (stage) => remove(stage, `/service-policies/${stage.subject.dials.policyId}`),
  },
  {
    name: 'Bind policy deleted',
    ways: WAYS,
    end: (stage) => remove(stage, `/service-policies/${stage.subject.hosts.policyId}`),
  },
  {
    name: 'Dial policy over by its term',
    ways: WAYS,
    end: async ({ admin, elapse, two, subject }) => {
      const until = new Date(two.now() + 1000).toISOString()
      await admin('PATCH', `/service-policies/${subject.dials.policyId}`, { until })
      await elapse(1000)
    },
  },
  {
    name: 'Bind policy over by its term',
    ways: ['password'],
    end: async ({ admin, elapse, two, subject }) => {
      const until = new Date(two.now() + 1000).toISOString()
      await admin('PATCH', `/service-policies/${subject.hosts.policyId}`, { until })
      await elapse(1000)
    },
  },
  {
    name: 'Dial policy narrowed to others',
    ways: ['password'],
    end: ({ admin, subject }) =>
      admin('PATCH', `/service-policies/${subject.dials.policyId}`, { identityRoles: ['#others'] }),
  },
  {
    name: 'Dial policy narrowed, and widened again',
    ways: ['password'],
    end: async ({ admin, see, elapse, subject }) => {
      const roles = (identityRoles: readonly string[]) =>
        admin('PATCH', `/service-policies/${subject.dials.policyId}`, { identityRoles })
      await roles(['#others'])
      await see()
      await elapse(2000)
      await roles(['#password'])
    },
  },
  {
    name: 'Dial policy made a Bind policy',
    ways: ['password'],
    end: ({ admin, subject }) => admin('PATCH', `/service-policies/${subject.dials.policyId}`, { type: 'Bind' }),
  },
  {
    name: 'role attributes of the identity taken away',
    ways: ['password', 'cert'],
    end: ({ admin, subject }) => admin('PATCH', `/identities/${subject.id}`, { roleAttributes: [] }),
  },
  {
    name: 'role attributes of both services taken away',
    ways: ['password'],
    end: async ({ admin, subject }) => {
      for (const { serviceId } of [subject.dials, subject.hosts])
        await admin('PATCH', `/services/${serviceId}`, { roleAttributes: [] })
    },
  },
  {
    name: 'services deleted',
    ways: ['password'],
    end: async ({ admin, subject }) => {
      for (const { serviceId } of [subject.dials, subject.hosts]) await admin('DELETE', `/services/${serviceId}`)
    },
  },
  {
    name: 'edge router policy deleted',
    ways: WAYS,
    end: (stage) => remove(stage, `/edge-router-policies/${stage.subject.routerPolicyId}`),
  },
  {
    name: 'service edge router policy deleted',
    ways: WAYS,
    end: (stage) => remove(stage, `/service-edge-router-policies/${stage.subject.serviceRouterPolicyId}`),
  },
  {
    name: 'Bind policy of the host deleted',
    ways: WAYS,
    end: async (stage) =>
      remove(stage, `/service-policies/${await policyOf(stage, `Bind-dialed-${stage.subject.way}`)}`),
  },
  {
    name: 'Dial policy of others deleted',
    ways: ['password'],
    end: async (stage) =>
      remove(stage, `/service-policies/${await policyOf(stage, `Dial-hosted-${stage.subject.way}`)}`),
  },
  {
    name: 'attribute of the ingress router taken away',
    ways: ['password'],
    end: (stage) => onlyAttributed(stage, 'r1'),
  },
  {
    name: 'attribute of the egress router taken away',
    ways: ['password'],
    end: (stage) => onlyAttributed(stage, 'r2'),
  },
  {
    name: 'edge router policy narrowed to other identities',
    ways: ['password', 'jwt'],
    end: ({ admin, subject }) =>
      admin('PATCH', `/edge-router-policies/${subject.routerPolicyId}`, { identityRoles: ['#others'] }),
  },
  {
    name: 'service edge router policy narrowed to other services',
    ways: ['password'],
    end: ({ admin, subject }) =>
      admin('PATCH', `/service-edge-router-policies/${subject.serviceRouterPolicyId}`, { serviceRoles: ['#others'] }),
  },
  {
    name: 'policies made such that an identity needs a further attribute',
    ways: ['password'],
    end: async ({ admin, subject }) => {
      for (const { policyId } of [subject.dials, subject.hosts]) {
        const body = { semantic: 'AllOf', identityRoles: ['#password', '#others'] }
        await admin('PATCH', `/service-policies/${policyId}`, body)
      }
    },
  },
  {
    name: 'posture check put on the Dial policy',
    ways: WAYS,
    ends: ['posture'],
    end: async (stage) => {
      await checked(stage, DOMAIN)
    },
  },
  {
    name: 'posture that got worse, as told to the process that did not make the session',
    ways: ['password', 'jwt'],
    ends: ['posture'],
    end: async (stage) => {
      await checkedWhileGood(stage)
      const { body } = await stage.by.ask('GET', '/edge/client/v1/sessions', { zt: stage.held.A.zt })
      if (body.data?.length !== 4) throw new Error('the posture was not good before')
      for (const made of PROCESSES) await reportDomain(stage, made, 'elsewhere.example')
    },
  },
  {
    name: 'posture check changed so that it fails',
    ways: ['password'],
    ends: ['posture'],
    end: async (stage) => {
      const id = await checkedWhileGood(stage)
      await stage.admin('PATCH', `/posture-checks/${id}`, { typeId: 'DOMAIN', domains: ['other.example'] })
    },
  },
  {
    name: 'posture check that concerns the Dial policy from now on, by its attributes',
    ways: ['password'],
    ends: ['posture'],
    end: async (stage) => {
      const id = await checked(stage, DOMAIN, ['elsewhere'])
      await stage.elapse(2000)
      await stage.admin('PATCH', `/posture-checks/${id}`, { typeId: 'DOMAIN', roleAttributes: ['checked'] })
    },
  },
  {
    name: 'a device that woke and gave no code',
    ways: ['totp'],
    ends: ['posture'],
    prepare: (scene) => checked(scene, { typeId: 'MFA', timeoutSeconds: -1, promptOnWake: true }),
    end: async (stage) => {
      for (const made of PROCESSES) {
        const woken = { typeId: 'ENDPOINT_STATE', id: 'woken', woken: true, unlocked: false }
        await reportPosture(stage, made, woken)
      }
      await stage.elapse(301_000)
    },
  },
  {
    name: 'second factor of a posture check timed out',
    ways: ['totp'],
    ends: ['posture'],
    prepare: (scene) => checked(scene, { typeId: 'MFA', timeoutSeconds: 540 }),
    end: async ({ elapse }) => {
      await elapse(541_000)
    },
  },
  {
    name: 'second factor of a posture check timed out, without the process that made the session',
    ways: ['totp'],
    ends: ['posture', 'process-A'],
    prepare: (scene) => checked(scene, { typeId: 'MFA', timeoutSeconds: 540 }),
    end: async ({ two, elapse }) => {
      await two.A.close()
      await elapse(541_000)
    },
  },
  {
    name: 'service sessions deleted by an administrator',
    ways: ['password'],
    ends: ['session-A'],
    end: async ({ by, held }) => {
      for (const { id } of [held.A.dials.zt, held.A.binds.zt]) await mayBeGone(by.admin('DELETE', `/sessions/${id}`))
    },
  },
  {
    name: 'service sessions deleted by their holder',
    ways: ['password'],
    ends: ['session-A'],
    end: async ({ by, held }) => {
      const paths = [held.A.dials.zt, held.A.binds.zt].map(({ id }) => `/edge/client/v1/sessions/${id}`)
      const { status } = await by.ask('GET', '/edge/client/v1/sessions', { zt: held.A.zt })
      if (status !== 200) throw new Error('the session was over before')
      for (const path of paths) await mayBeGone(by.ask('DELETE', path, { zt: held.A.zt }))
    },
  },
  {
    name: 'terminators deleted',
    ways: ['password'],
    ends: ['terminators'],
    end: async ({ admin, subject }) => {
      const filter = encodeURIComponent(`service="${subject.hosts.serviceId}"`)
      for (const { id } of await admin('GET', `/terminators?filter=${filter}`))
        await admin('DELETE', `/terminators/${id}`)
    },
  },
]
