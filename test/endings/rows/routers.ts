import type { Ending, Stage } from '../ending.ts'

const patchRouter = ({ admin }: Stage, id: string, body: object) => admin('PATCH', `/edge-routers/${id}`, body)

export const ROUTER_ENDINGS: readonly Ending[] = [
  {
    name: 'ingress router disabled',
    ways: ['password'],
    end: (stage) => patchRouter(stage, stage.network.r1.id, { disabled: true }),
  },
  {
    name: 'egress router disabled',
    ways: ['password'],
    end: (stage) => patchRouter(stage, stage.network.r2.id, { disabled: true }),
  },
  {
    name: 'ingress router deleted',
    ways: ['password'],
    end: (stage) => stage.admin('DELETE', `/edge-routers/${stage.network.r1.id}`),
  },
  {
    name: 'egress router deleted',
    ways: ['password'],
    end: (stage) => stage.admin('DELETE', `/edge-routers/${stage.network.r2.id}`),
  },
  {
    name: 'ingress router sent to enroll again',
    ways: ['password'],
    ends: ['channels-r1'],
    end: async ({ admin, network }) => {
      await admin('POST', `/edge-routers/${network.r1.id}/re-enroll`)
    },
  },
  {
    name: 'egress router sent to enroll again',
    ways: ['password'],
    ends: ['channels-r2'],
    end: async ({ admin, network }) => {
      await admin('POST', `/edge-routers/${network.r2.id}/re-enroll`)
    },
  },
  {
    name: 'egress router without tunneler',
    ways: ['password'],
    end: (stage) => patchRouter(stage, stage.network.r2.id, { isTunnelerEnabled: false }),
  },
  {
    name: 'ingress router without tunneler',
    ways: ['password'],
    end: (stage) => patchRouter(stage, stage.network.r1.id, { isTunnelerEnabled: false }),
  },
  {
    name: 'identity of the egress router disabled',
    ways: ['password'],
    end: ({ admin, network }) => admin('POST', `/identities/${network.r2.id}/disable`, { durationMinutes: 0 }),
  },
  {
    name: 'identity of the ingress router disabled',
    ways: ['password'],
    end: ({ admin, network }) => admin('POST', `/identities/${network.r1.id}/disable`, { durationMinutes: 0 }),
  },
]
