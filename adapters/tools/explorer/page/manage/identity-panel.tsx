import { rowOf } from '../api/read-json.ts'
import { isOfAny, isOfIdentity, isOfNetwork } from '../events/network-event.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { may } from '../session/session.ts'
import { useApis } from '../session/use-apis.ts'
import { withDetails } from '../table/identity-details.ts'
import { tableOf } from '../table/table-kinds.ts'
import { Enrollment } from './enrollment.tsx'
import { Facts, PanelTitle } from './panel-head.tsx'

interface Props {
  readonly id: string
  readonly onChange: () => void
}

/** An identity: whether it may log in, its second factor, and its invitation to enroll. */
export function IdentityPanel({ id, onChange }: Props) {
  const apis = useApis()
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
  const { identity, detailed } = answer.data ?? {}
  const onDone = () => {
    answer.reload()
    onChange()
  }
  return (
    <>
      <PanelTitle kind="identities" name={identity?.name ?? ''} problem={answer.problem} />
      {identity && (
        <>
          <Facts kind="identities" of={detailed} />
          {may('identity', 'update') && (
            <div class="actions">
              {identity.disabled ? (
                <ActionButton
                  label="Enable"
                  done="Enabled."
                  act={() => management.call('POST /identities/{id}/enable', { params })}
                  onDone={onDone}
                />
              ) : (
                <ActionButton
                  label="Disable"
                  question="End its sessions and let it in no more?"
                  done="Disabled."
                  act={() => management.call('POST /identities/{id}/disable', { params, body: { durationMinutes: 0 } })}
                  onDone={onDone}
                />
              )}
              {identity.isMfaEnabled && (
                <ActionButton
                  label="Reset second factor"
                  question="Take its second factor away?"
                  done="The second factor is taken away."
                  act={() => management.call('DELETE /identities/{id}/mfa', { params })}
                  onDone={onDone}
                />
              )}
            </div>
          )}
          <Enrollment identity={identity} onChange={answer.reload} />
        </>
      )}
    </>
  )
}
