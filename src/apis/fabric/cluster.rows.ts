import { z } from 'zod'
import { invalidField } from '../../base/errors.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { HttpRefusal } from '../../http/pipeline/problem.ts'
import { described } from '../../kernel/declaration/words.ts'
import { databaseOperations } from '../network/database.rows.ts'

const [snapshotOperation, ...integrityOperations] = databaseOperations
const NO_SNAPSHOTS = 'the storage makes no snapshots'

/** Care of the store, as of the management API. */
export const fabricDatabase = [
  ...integrityOperations,
  { ...snapshotOperation, shape: { ...snapshotOperation.shape, route: 'POST /database' } },
  defineOperation(
    {
      route: 'POST /database/snapshot',
      summary: 'Makes a snapshot of the store, where the storage can',
      description:
        'Answers 501 where the storage makes no snapshots. Where it lies is for the storage to say: a path is refused.',
      access: 'admin',
      body: described(z.object({ path: z.string().default('') }), {
        path: 'Empty, or left out: the storage says where it lies.',
      }),
      bodyOptional: true,
      data: described(z.object({ path: z.string() }), { path: 'Where the snapshot lies, as the storage names it.' }),
      errors: ['RATE_LIMITED'],
      mayBeMissing: true,
    },
    async ({ engine, body }) => {
      if (body?.path) throw invalidField('path', 'snapshots lie where the storage puts them', body.path)
      const path = await engine.snapshots.create()
      if (path !== undefined) return { data: { path } }
      throw new HttpRefusal('UNHANDLED', 501, { code: 'UNHANDLED', message: NO_SNAPSHOTS })
    },
  ),
] as const

const Member = described(
  z.object({
    id: z.string(),
    address: z.string(),
    voter: z.boolean(),
    leader: z.boolean(),
    version: z.string(),
    connected: z.boolean(),
    readOnly: z.boolean(),
    preferredLeader: z.boolean(),
  }),
  {
    id: 'By which routers know the process.',
    address: 'Where routers reach it, as `tls:host:port`.',
    voter: 'True: every process over the store counts.',
    leader: 'True for the one of the lowest id, as programs look for one; every process takes changes.',
    version: 'Its version, as it is reported.',
    connected: 'True: processes that are gone are not listed.',
    readOnly: 'False: every process takes changes.',
    preferredLeader: 'False: no process is preferred.',
  },
)

function membersAt<const Path extends 'cluster/list-members' | 'raft/list-members' | 'raft/members'>(path: Path) {
  return defineOperation(
    {
      route: `GET /${path}`,
      summary: 'Lists the processes over this store that serve routers',
      access: 'admin',
      data: z.array(Member),
    },
    async ({ engine, versionFacts: { version } }) => {
      const role = { voter: true, version, connected: true, readOnly: false, preferredLeader: false }
      const members = await engine.dataPlane.members()
      const [leader] = members.map(({ id }) => id).sort()
      return { data: members.map((member) => ({ ...member, ...role, leader: member.id === leader })) }
    },
  )
}

/** The processes over this store; older programs of the field ask by other paths. */
export const clusterOperations = {
  members: membersAt('cluster/list-members'),
  formerMembers: membersAt('raft/list-members'),
  raftMembers: membersAt('raft/members'),
} as const
