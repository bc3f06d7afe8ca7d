import { z } from 'zod'
import { ControllerError } from '../../base/errors.ts'
import { type Call, knownCaller } from '../../context/call.ts'
import { ChangedPair } from '../../facts/access/access-questions.resource.ts'
import type { UndoPlan } from '../../facts/audit/change-undo.rules.ts'
import { isAdministrator, permits } from '../../facts/authority/authority.rules.ts'
import { RESOURCES, resourceNamed } from '../../facts/resources/index.ts'
import { accessTo } from '../../http/operations/crud.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { authorize } from '../../http/pipeline/authorize.ts'
import { described } from '../../kernel/declaration/words.ts'

/** The data of a plan for undoing a change. */
const UndoData: z.ZodType<UndoPlan, UndoPlan> = described(
  z.object({
    record: z.string(),
    action: z.enum(['create', 'update', 'delete']).nullable(),
    entity: described(z.object({ kind: z.string(), id: z.string(), name: z.string().nullable() }), {
      kind: 'Its resource, for example `service-policies`.',
      name: 'Its name at the time of the record.',
    }),
    obstacle: z
      .enum([
        'gone',
        'there-again',
        'changed-since',
        'undone-already',
        'controller',
        'digest',
        'administrator',
        'not-offered',
        'refused',
      ])
      .nullable(),
    refusal: z.string().nullable(),
    fields: z.array(
      described(z.object({ field: z.string(), now: z.unknown(), restored: z.unknown() }), {
        field: 'The field.',
        now: 'Its value now; null for an entity that is created again.',
        restored: 'The value that it is given.',
      }),
    ),
    left: z.array(
      described(
        z.object({
          field: z.string(),
          why: z.enum(['changed-since', 'controller', 'digest', 'administrator', 'anew']),
        }),
        {
          field: 'The field.',
          why: '`changed-since`: it was changed later; `controller`: no request sets it; `digest`: the trail has no more of it; `administrator`: only an administrator gives trust back; `anew`: it is a secret that is made anew.',
        },
      ),
    ),
    trust: z.boolean().nullable(),
    access: described(z.object({ gained: z.int(), lost: z.int(), pairs: z.array(ChangedPair) }), {
      gained: 'Pairs of identity and service that would gain access, posture aside.',
      lost: 'Pairs that would lose it.',
      pairs: 'The first of them.',
    }).nullable(),
    tag: z.string(),
    text: z.string(),
  }),
  {
    record: 'The id of the audit record.',
    action: 'The undoing action; null where there is none, for the reason of `obstacle`.',
    entity: 'The entity that was changed.',
    obstacle: 'Why nothing is done; null where something is.',
    refusal: 'Why the controller would refuse it; null where it would not.',
    fields: 'The fields that are set back.',
    left: 'The fields that are not set back.',
    trust:
      'Whether the certificate authority or external JWT signer would be trusted to let in identities that have rights; null for other entities, and where that does not change.',
    access:
      'The identities that would gain and lose access; null where the change decides none, or the caller may not read all of it.',
    tag: 'Stands for the plan and the entity as it is now: the `If-Match` of the request that makes it.',
    text: 'The plan for people, over several lines.',
  },
)

/** Plans how to undo a change. */
export const planUndoOperation = defineOperation(
  {
    route: 'GET /audit/{id}/undo',
    summary: 'Plans how a change is taken back, writing nothing',
    description:
      'The change is taken back in the network as it is now: what was changed later stays. Secrets, credentials and what the ' +
      'controller writes by itself do not come back, and the answer says so.',
    access: 'delegate',
    isLong: true,
    data: UndoData,
    errors: ['NOT_FOUND'],
  },
  async ({ engine, call, params }) => ({ data: await engine.changeUndo.plan(call, params.id) }),
)

/** Undoes a change. */
export const undoOperation = defineOperation(
  {
    route: 'POST /audit/{id}/undo',
    summary: 'Takes a change back, as it was planned',
    description:
      'Takes `If-Match` with the tag of the plan: when the entity was changed since, nothing is done. Takes the right to create, ' +
      'update or delete entities of the kind, and is judged as the request that does the same.',
    access: 'delegate',
    isLong: true,
    headers: ['If-Match'],
    data: UndoData,
    errors: ['NOT_FOUND', 'CAN_NOT_DELETE_REFERENCED_ENTITY', 'ENTITY_CAN_NOT_BE_DELETED', 'ENTITY_CAN_NOT_BE_UPDATED'],
  },
  async ({ engine, call, params, headers }) => {
    requireWriting(call)
    requireRight(call, await engine.changeUndo.plan(call, params.id))
    const tag = (headers.get('if-match') ?? '').replace(/^"(.*)"$/, '$1')
    return { data: await engine.changeUndo.apply(call, params.id, tag.slice(0, 64)) }
  },
)

const WRITING = ['create', 'update', 'delete'] as const

/** Error: `UNAUTHORIZED` for a caller with the right to read alone, whatever the record. */
function requireWriting(call: Call): void {
  const caller = knownCaller(call)?.identity
  if (caller === undefined || isAdministrator(caller)) return
  const mayWrite = RESOURCES.some(({ definition: { permission: entity } }) =>
    WRITING.some((action) => permits(caller.permissions, { entity, action })),
  )
  if (!mayWrite) throw new ControllerError('UNAUTHORIZED')
}

/** Error: `UNAUTHORIZED` for a caller that may not make the planned change itself. */
function requireRight(call: Call, { action, entity }: UndoPlan): void {
  if (action === null) return
  // An undo changes some fields, as PATCH does.
  const operation = action === 'update' ? 'patch' : action
  const access = accessTo(resourceNamed(entity.kind), action, operation)
  try {
    authorize({ access }, call)
  } catch (error) {
    if (!(error instanceof ControllerError)) throw error
    const message = `it takes the right to ${action} entities of the kind ${entity.kind}`
    throw new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message })
  }
}
