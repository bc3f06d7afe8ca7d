import { useState } from 'preact/hooks'
import type { AnswerOf, ManagementApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { untilText } from '../parts/time-text.ts'
import { useAction } from '../parts/use-action.ts'
import { may } from '../session/session.ts'

type Identity = AnswerOf<ManagementApi['GET /identities/{id}']>['data']

/** For how long an invitation is good, in milliseconds. */
const GOOD_FOR_MS = 24 * 3_600_000

/** The invitation of an identity: as a QR code for phones, as a token for everything else. */
export function Enrollment({ apis, identity, onChange }: { apis: Apis; identity: Identity; onChange: () => void }) {
  const [isShown, setShown] = useState(false)
  const action = useAction()
  const { enrollment, authenticators } = identity
  const open = enrollment.ott ?? enrollment.updb ?? enrollment.ottca
  const invite = async () => {
    const expiresAt = new Date(Date.now() + GOOD_FOR_MS).toISOString()
    await action.run('Invited.', () =>
      open
        ? apis.management.call('POST /enrollments/{id}/refresh', { params: { id: open.id }, body: { expiresAt } })
        : apis.management.call('POST /enrollments', { body: { identityId: identity.id, method: 'ott', expiresAt } }),
    )
    onChange()
  }
  const known = [authenticators.cert && 'a certificate', authenticators.updb && 'a password'].filter(Boolean)
  const isVoid = open !== undefined && Date.parse(open.expiresAt) < Date.now()
  return (
    <section>
      <h3>Enrollment</h3>
      {known.length > 0 && <p>It has {known.join(' and ')}.</p>}
      {!open && known.length === 0 && <p>It has no credentials and no invitation.</p>}
      {open && (
        <>
          <p>
            {isVoid ? 'Its invitation ran out ' : 'Invited; the token is good once, until '}
            {untilText(open.expiresAt)}.
          </p>
          {isShown ? (
            <>
              <QrCode text={open.jwt} label={`QR code of the enrollment token of ${identity.name}`} />
              <textarea class="code" aria-label="Enrollment token" readOnly rows={5} value={open.jwt} />
            </>
          ) : null}
        </>
      )}
      <div class="actions">
        {open && !isVoid && !isShown && (
          <button type="button" class="primary" onClick={() => setShown(true)}>
            Show QR code and token
          </button>
        )}
        {open && isShown && <CopyButton text={open.jwt} label="Copy token" />}
        {(!open || isVoid) && may('enrollment', open ? 'update' : 'create') && (
          <button type="button" disabled={action.isBusy} onClick={invite}>
            {open ? 'Invite anew' : 'Invite'}
          </button>
        )}
      </div>
      {action.problem && (
        <p class="problem" role="alert">
          {action.problem}
        </p>
      )}
    </section>
  )
}
