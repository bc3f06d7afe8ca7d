import { ActionButton } from '../parts/action-button.tsx'
import { may } from '../session/session.ts'
import { useApis } from '../session/use-apis.ts'
import { Enrollment, type Identity } from './enrollment.tsx'

/** Whether an identity may log in, its second factor, and its invitation to enroll. */
export function IdentityActs({ identity, onDone }: { readonly identity: Identity; readonly onDone: () => void }) {
  const { management } = useApis()
  const params = { id: identity.id }
  return (
    <>
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
      <Enrollment identity={identity} onChange={onDone} />
    </>
  )
}
