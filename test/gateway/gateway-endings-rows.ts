import type { ServedGateway } from './served-gateway.ts'

/** An identity of a row, which has logged in and has an answer on its way. */
export interface Ending {
  readonly world: ServedGateway
  readonly id: string
  readonly name: string
  /** Its API session by the gateway. */
  readonly apiSessionId: string
}

/** How a session or a right ends, and the answer to the next page: the way to a login (303), or why not (403). */
export type EndingRow = readonly [what: string, end: (ending: Ending) => Promise<unknown>, next: 303 | 403]

const authenticatorOf = async ({ world, id }: Ending) => {
  const { data } = await world.net.admin.call('GET /authenticators', { query: { filter: `identity="${id}"` } })
  return { id: data[0]?.id ?? '' }
}

export const ENDINGS: readonly EndingRow[] = [
  [
    'API session deleted by an administrator',
    ({ world, apiSessionId: id }) => world.net.admin.call('DELETE /api-sessions/{id}', { params: { id } }),
    303,
  ],
  [
    'identity disabled',
    ({ world, id }) =>
      world.net.admin.call('POST /identities/{id}/disable', { params: { id }, body: { durationMinutes: 0 } }),
    303,
  ],
  ['identity deleted', ({ world, id }) => world.net.admin.call('DELETE /identities/{id}', { params: { id } }), 303],
  [
    'revocation of the identity',
    async ({ world, id }) => {
      await world.net.admin.call('POST /revocations', { body: { id, type: 'IDENTITY' } })
    },
    303,
  ],
  [
    'revocation of the API session',
    ({ world, apiSessionId: id }) => world.net.admin.call('POST /revocations', { body: { id, type: 'API_SESSION' } }),
    303,
  ],
  [
    'password changed by an administrator',
    async (ending) => {
      const params = await authenticatorOf(ending)
      const body = { username: ending.name, password: 'Another-Horse-2' }
      await ending.world.net.admin.call('PUT /authenticators/{id}', { params, body })
    },
    303,
  ],
  [
    'authenticator deleted',
    async (ending) =>
      ending.world.net.admin.call('DELETE /authenticators/{id}', { params: await authenticatorOf(ending) }),
    303,
  ],
  [
    'role attributes of the identity taken away',
    ({ world, id }) => world.net.admin.call('PATCH /identities/{id}', { params: { id }, body: { roleAttributes: [] } }),
    403,
  ],
]
