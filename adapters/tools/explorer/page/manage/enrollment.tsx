import { useState } from 'preact/hooks'
import { HOUR_MS } from '../../../../../src/base/time.ts'
import type { AnswerOf, ManagementApi } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { ActionButton } from '../parts/action.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Choice } from '../parts/fields.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { untilText } from '../parts/words.ts'
import { may, useApis } from '../session/session.ts'

export type Identity = AnswerOf<ManagementApi['GET /identities/{id}']>['data']

/** How long an invitation may be good, in hours. */
const LIFETIMES = { 1: 'an hour', 24: 'a day', 168: 'a week', 720: '30 days' } as const

export const USUAL_HOURS = 24

/** The end of an invitation that is made now and is good for some hours, RFC 3339. */
export function endIn(hours: number): string {
  return new Date(Date.now() + hours * HOUR_MS).toISOString()
}

/** Invites an identity for some hours; an invitation that is there gets a new token. */
export function invite({ management }: Apis, { id, enrollment }: Identity, hours: number): Promise<unknown> {
  const open = enrollment.ott ?? enrollment.updb ?? enrollment.ottca
  const expiresAt = endIn(hours)
  return open
    ? management.call('POST /enrollments/{id}/refresh', { params: { id: open.id }, body: { expiresAt } })
    : management.call('POST /enrollments', { body: { identityId: id, method: 'ott', expiresAt } })
}

/** Saves an enrollment token as a file, by whose name it is enrolled. */
export function TokenFile({ name, jwt, label }: { name: string; jwt: string; label: string }) {
  return (
    <a class="button" download={`${name}.jwt`} href={`data:text/plain;charset=utf-8,${encodeURIComponent(jwt)}`}>
      {label}
    </a>
  )
}

/** Chooses for how long an invitation is good. */
export function LifetimeField({ hours, onChange }: { hours: number; onChange: (hours: number) => void }) {
  return (
    <Choice
      label="Invitation is good for"
      value={String(hours)}
      of={LIFETIMES}
      onChange={(value) => onChange(Number(value))}
    />
  )
}

/** The invitation of an identity: as a QR code for phones, as a token for everything else. */
export function Enrollment({ identity, onChange }: { identity: Identity; onChange: () => void }) {
  const apis = useApis()
  const [isShown, setShown] = useState(false)
  const [hours, setHours] = useState<number>(USUAL_HOURS)
  const { enrollment, authenticators } = identity
  const open = enrollment.ott ?? enrollment.updb ?? enrollment.ottca
  const known = [authenticators.cert && 'a certificate', authenticators.updb && 'a password'].filter(Boolean)
  const isVoid = open !== undefined && Date.parse(open.expiresAt) < Date.now()
  const mayInvite = may('enrollment', open ? 'update' : 'create')
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
      {mayInvite && <LifetimeField hours={hours} onChange={setHours} />}
      <div class="actions">
        {open && !isVoid && !isShown && (
          <button type="button" class="primary" onClick={() => setShown(true)}>
            Show QR code and token
          </button>
        )}
        {open && isShown && (
          <>
            <CopyButton text={open.jwt} label="Copy token" />
            <TokenFile name={identity.name} jwt={open.jwt} label="Save as a file" />
          </>
        )}
        {mayInvite && (
          <ActionButton
            label={open ? 'Invite anew' : 'Invite'}
            done="Invited."
            act={() => invite(apis, identity, hours)}
            onDone={onChange}
          />
        )}
      </div>
    </section>
  )
}
