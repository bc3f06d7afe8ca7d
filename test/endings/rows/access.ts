import type { Ending, Stage } from '../ending.ts'
import type { Scene } from '../scene.ts'
import { mayBeGone } from './asking.ts'

const WAYS = ['password', 'jwt'] as const
const remove = ({ admin }: Stage, path: string) => admin('DELETE', path)

/** Puts a check on the Dial policy of the subject. */
async function checked(scene: Scene, check: object): Promise<void> {
  const at = scene.process('A')
  await at.create('/posture-checks', { name: 'check', roleAttributes: ['checked'], ...check })
  await at.told('PATCH', `/service-policies/${scene.subject.dials.policyId}`, { postureCheckRoles: ['#checked'] })
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
    name: 'posture check put on the Dial policy',
    ways: WAYS,
    ends: ['posture'],
    end: async (stage) => {
      await checked(stage, DOMAIN)
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
