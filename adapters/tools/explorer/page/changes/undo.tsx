import { useState } from 'preact/hooks'
import type { AnswerOf, PortcullisApi } from '../../../../../src/client/index.ts'
import type { KindForm } from '../forms/form-schemas.ts'
import { ActionProblem, useAction } from '../parts/action.tsx'
import { may, session, useApis } from '../session/session.ts'
import type { AuditEntry } from './consequences.tsx'

type Plan = AnswerOf<PortcullisApi['GET /audit/{id}/undo']>['data']

/** Takes a change back: first as a plan that is looked at, then by the tag of that plan, so that nothing later is overwritten. */
export function Undo({ entry, onDone }: { entry: AuditEntry; onDone: () => void }) {
  const { portcullis } = useApis()
  const [plan, setPlan] = useState<Plan>()
  const action = useAction()
  const { isBusy, problem } = action
  const params = { id: entry.id }
  const look = async () => {
    const step = async () => setPlan((await portcullis.call('GET /audit/{id}/undo', { params })).data)
    if (!(await action.run('The plan is there.', step))) setPlan(undefined)
  }
  const apply = async (tag: string) => {
    const request = { params, headers: { 'if-match': `"${tag}"` } }
    const isDone = await action.run('The change was taken back.', () =>
      portcullis.call('POST /audit/{id}/undo', request),
    )
    setPlan(undefined)
    if (isDone) onDone()
  }
  return (
    <>
      <button type="button" class="link" aria-expanded={plan !== undefined} disabled={isBusy} onClick={look}>
        undo…
      </button>
      <ActionProblem of={problem} />
      {plan && (
        <div class="undo">
          <ul class="sentences">
            {plan.text.split('\n').map((line) => (
              <li key={line} class={line.startsWith('  ') ? 'is-below' : undefined}>
                {line.trim()}
              </li>
            ))}
          </ul>
          {plan.action !== null && (
            <button type="button" class="primary" disabled={isBusy} onClick={() => apply(plan.tag)}>
              {isBusy ? 'Writing…' : 'Yes, take it back'}
            </button>
          )}{' '}
          <button type="button" disabled={isBusy} onClick={() => setPlan(undefined)}>
            Close
          </button>
        </div>
      )}
    </>
  )
}

/** Reports whether a change can be taken back by a request of the API that the logged in user may make. */
export function mayUndo(
  { type, entity, changes }: AuditEntry,
  forms: Readonly<Record<string, KindForm>> = {},
): boolean {
  const form = entity === null ? undefined : forms[entity.kind]
  if (form === undefined) return false
  // The controller keeps the credential by which its caller logs in.
  if (entity?.kind === 'authenticators' && changes.identityId?.after === session.value?.id) return false
  const { permission, create, change, isDeleted } = form
  if (type === 'entity.created') return isDeleted && may(permission, 'delete')
  if (type === 'entity.deleted') return create !== undefined && may(permission, 'create')
  const fields = change?.properties ?? {}
  const isWritable = Object.keys(changes).some((field) => field in fields || field.replace(/Id$/, '') in fields)
  return type === 'entity.updated' && isWritable && may(permission, 'update')
}
