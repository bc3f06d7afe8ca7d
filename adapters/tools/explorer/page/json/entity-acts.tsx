import { useState } from 'preact/hooks'
import type { Values } from '../forms/form-schemas.ts'
import { TokenFile } from '../manage/enrollment.tsx'
import { ActionButton } from '../parts/action.tsx'
import { Card } from '../parts/card.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { may, useApis } from '../session/session.ts'

interface Props {
  readonly kind: string
  readonly id: string
  readonly entity: Values
  readonly onDone: () => void
}

/** The acts on an entity beside a change of its fields: a token to enroll by, a proof, a secret. */
export function EntityActs({ kind, id, entity, onDone }: Props) {
  const apis = useApis()
  const params = { id }
  const name = String(entity.name)
  if (typeof entity.enrollmentJwt === 'string') return <Token name={name} jwt={entity.enrollmentJwt} />
  if (kind === 'cas' && entity.isVerified === false && may('ca', 'update')) {
    return <Proof id={id} token={String(entity.verificationToken)} onDone={onDone} />
  }
  if (kind === 'cas' && entity.isAutoCaEnrollmentEnabled === true) return <CaToken id={id} name={name} />
  if (kind === 'webhooks' && may('webhook', 'update')) return <Secret id={id} />
  if (kind === 'edge-routers' && may('router', 'update')) {
    return (
      <ActionButton
        label="Enroll anew"
        question="Disconnect it until it enrolls by a new token?"
        done="It has a new token."
        act={() => apis.management.call('POST /edge-routers/{id}/re-enroll', { params })}
        onDone={onDone}
      />
    )
  }
  return null
}

/** The token by which a router enrolls. */
function Token({ name, jwt }: { name: string; jwt: string }) {
  return (
    <Card title="It has not enrolled yet">
      <p class="muted">
        Save the token where the router runs, then <code>portcullis router enroll {name}.jwt</code>, or{' '}
        <code>ziti router enroll</code> for a deployed one.
      </p>
      <TokenRow name={name} jwt={jwt} />
    </Card>
  )
}

function TokenRow({ name, jwt }: { name: string; jwt: string }) {
  return (
    <p class="row">
      <TokenFile name={name} jwt={jwt} label={`Save ${name}.jwt`} />
      <CopyButton text={jwt} label="Copy token" />
    </p>
  )
}

/** Verifies a certificate authority: until then it lets nobody in. */
function Proof({ id, token, onDone }: { id: string; token: string; onDone: () => void }) {
  const { management } = useApis()
  const [pem, setPem] = useState('')
  return (
    <Card title="It is not verified yet">
      <p class="muted">
        Have it sign a certificate whose common name is <code>{token}</code>, and paste that here, as PEM.
      </p>
      <textarea
        class="code"
        aria-label="The signed certificate"
        rows={6}
        spellcheck={false}
        value={pem}
        onInput={({ currentTarget }) => setPem(currentTarget.value)}
      />
      <p class="row">
        <ActionButton
          label="Verify"
          done="It is verified."
          act={() => management.call('POST /cas/{id}/verify', { params: { id }, body: pem })}
          onDone={onDone}
        />
        <CopyButton text={token} label="Copy the name" />
      </p>
    </Card>
  )
}

/** The token by which holders of certificates of an authority enroll by themselves. */
function CaToken({ id, name }: { id: string; name: string }) {
  const { management } = useApis()
  const answer = useAnswer(
    (signal) => management.call('GET /cas/{id}/jwt', { params: { id }, signal }),
    [management, id],
  )
  return (
    <Card title="Token for holders of its certificates">
      <Loaded answer={answer}>{(jwt) => <TokenRow name={name} jwt={jwt} />}</Loaded>
    </Card>
  )
}

/** A new secret of a webhook, which the controller shows this once. */
function Secret({ id }: { id: string }) {
  const { portcullis } = useApis()
  const [secret, setSecret] = useState<string>()
  return (
    <Card title="Secret">
      {secret === undefined ? (
        <ActionButton
          label="Make a new secret"
          question="The present one signs for another day."
          done="The secret is there."
          act={async () => {
            setSecret((await portcullis.call('POST /webhooks/{id}/secret', { params: { id } })).data.secret)
          }}
        />
      ) : (
        <>
          <p class="muted">It is shown this once, and signs every message to this webhook.</p>
          <pre>{secret}</pre>
          <CopyButton text={secret} />
        </>
      )}
    </Card>
  )
}
