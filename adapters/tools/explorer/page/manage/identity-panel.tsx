import type { Apis } from '../api/apis.ts'
import { rowOf } from '../api/read-json.ts'
import { isOfAny, isOfIdentity, isOfNetwork } from '../events/network-event.ts'
import { ActionProblem } from '../parts/action-problem.tsx'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { useAction } from '../parts/use-action.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { may } from '../session/session.ts'
import { withDetails } from '../table/identity-details.ts'
import { tableOf } from '../table/table-kinds.ts'
import { Enrollment } from './enrollment.tsx'
import { Facts, PanelTitle } from './panel-head.tsx'

interface Props {
  readonly apis: Apis
  readonly id: string
  readonly onChange: () => void
}

/** An identity: whether it may log in, its second factor, and its invitation to enroll. */
export function IdentityPanel({ apis, id, onChange }: Props) {
  const { management } = apis
  const params = { id }
  const answer = useAnswer(
    async (signal) => {
      const { data } = await management.call('GET /identities/{id}', { params, signal })
      const [detailed] = await withDetails(apis, [rowOf(data)], Object.keys(tableOf('identities').columns), signal)
      return { identity: data, detailed: detailed?.of }
    },
    [apis, id],
    isOfAny(isOfNetwork, isOfIdentity(id)),
  )
  const action = useAction()
  const { identity, detailed } = answer.data ?? {}
  const change = async (done: string, step: () => Promise<unknown>) => {
    await action.run(done, step)
    answer.reload()
    onChange()
  }
  const disable = () =>
    change('Disabled.', () =>
      management.call('POST /identities/{id}/disable', { params, body: { durationMinutes: 0 } }),
    )
  const enable = () => change('Enabled.', () => management.call('POST /identities/{id}/enable', { params }))
  const resetMfa = () =>
    change('The second factor is taken away.', () => management.call('DELETE /identities/{id}/mfa', { params }))
  return (
    <>
      <PanelTitle kind="identities" name={identity?.name ?? ''} problem={answer.problem} />
      {identity && (
        <>
          <Facts kind="identities" of={detailed} />
          {may('identity', 'update') && (
            <div class="actions">
              {identity.disabled ? (
                <button type="button" disabled={action.isBusy} onClick={enable}>
                  Enable
                </button>
              ) : (
                <ConfirmedButton
                  label="Disable"
                  question="End its sessions and let it in no more?"
                  disabled={action.isBusy}
                  onConfirm={() => void disable()}
                />
              )}
              {identity.isMfaEnabled && (
                <ConfirmedButton
                  label="Reset second factor"
                  question="Take its second factor away?"
                  disabled={action.isBusy}
                  onConfirm={() => void resetMfa()}
                />
              )}
            </div>
          )}
          <ActionProblem of={action.problem} />
          <Enrollment apis={apis} identity={identity} onChange={answer.reload} />
        </>
      )}
    </>
  )
}
