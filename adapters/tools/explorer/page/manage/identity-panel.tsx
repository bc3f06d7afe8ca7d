import type { Apis } from '../api/apis.ts'
import { isOfAny, isOfIdentity, isOfNetwork } from '../events/network-event.ts'
import { AttributeLink } from '../parts/attribute-link.tsx'
import { ConfirmedButton } from '../parts/confirmed-button.tsx'
import { timeText } from '../parts/time-text.ts'
import { useAction } from '../parts/use-action.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { may } from '../session/session.ts'
import { Enrollment } from './enrollment.tsx'
import { PanelTitle } from './panel-head.tsx'

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
    async (signal) => (await management.call('GET /identities/{id}', { params, signal })).data,
    [apis, id],
    isOfAny(isOfNetwork, isOfIdentity(id)),
  )
  const action = useAction()
  const identity = answer.data
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
          <dl class="facts">
            <dt>Type</dt>
            <dd>
              {identity.typeId}
              {identity.isAdmin && ', administrator'}
            </dd>
            <dt>State</dt>
            <dd class={identity.disabled ? 'loss' : undefined}>
              {identity.disabled ? 'disabled' : identity.hasApiSession ? 'logged in' : 'not logged in'}
              {identity.disabledUntil && ` until ${timeText(String(identity.disabledUntil))}`}
            </dd>
            <dt>Role attributes</dt>
            <dd>
              {(identity.roleAttributes ?? []).length === 0 && 'none'}
              {(identity.roleAttributes ?? []).map((attribute) => (
                <AttributeLink key={attribute} kind="identities" attribute={attribute} />
              ))}
            </dd>
            <dt>Second factor</dt>
            <dd>{identity.isMfaEnabled ? 'enrolled' : 'none'}</dd>
          </dl>
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
          {action.problem && (
            <p class="problem" role="alert">
              {action.problem}
            </p>
          )}
          <Enrollment apis={apis} identity={identity} onChange={answer.reload} />
        </>
      )}
    </>
  )
}
