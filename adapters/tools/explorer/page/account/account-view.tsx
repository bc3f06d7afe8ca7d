import { useState } from 'preact/hooks'
import { ApiError } from '../../../../../src/client/index.ts'
import { isOfNothing } from '../events/network-event.ts'
import { ActionButton, ActionProblem, useAction } from '../parts/action.tsx'
import { Card } from '../parts/card.tsx'
import { TextInput } from '../parts/fields.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { QrCode } from '../parts/qr-code.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useApis } from '../session/session.ts'

/** The password and the second factor of the user who is logged in. */
export function View() {
  return (
    <section class="reading">
      <div class="bar">
        <h1>Your account</h1>
      </div>
      <div class="columns">
        <Card title="Password">
          <Password />
        </Card>
        <Card title="Second factor">
          <SecondFactor />
        </Card>
      </div>
    </section>
  )
}

function Password() {
  const { management } = useApis()
  const answer = useAnswer(
    async (signal) => (await management.call('GET /current-identity/authenticators', { signal })).data,
    [management],
    isOfNothing,
  )
  return (
    <Loaded answer={answer}>
      {(own) => {
        const [id] = own.flatMap((one) => (one.method === 'updb' ? [one.id] : []))
        if (id === undefined) return <p class="muted">You have none: you log in by something else.</p>
        const change = ({ currentPassword = '', password = '' }: Readonly<Record<string, string>>) =>
          management.call('PATCH /current-identity/authenticators/{id}', {
            params: { id },
            body: { currentPassword, password },
          })
        const fields = { currentPassword: 'Current password', password: 'New password' }
        return <SecretsForm fields={fields} label="Change it" done="The password is changed." act={change} />
      }}
    </Loaded>
  )
}

function SecondFactor() {
  const { management } = useApis()
  const answer = useAnswer(
    async (signal) => {
      try {
        return (await management.call('GET /current-identity/mfa', { signal })).data
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }
    },
    [management],
    isOfNothing,
  )
  const code = { code: 'Code of your authenticator app' }
  return (
    <Loaded answer={answer}>
      {(factor) =>
        factor === null ? (
          <>
            <p class="muted">A password alone lets you in.</p>
            <div class="row">
              <ActionButton
                label="Add a second factor"
                done="Scan the code."
                act={() => management.call('POST /current-identity/mfa')}
                onDone={answer.reload}
              />
            </div>
          </>
        ) : factor.isVerified ? (
          <SecretsForm
            fields={code}
            label="Take it away"
            done="The second factor is taken away."
            act={({ code = '' }) =>
              management.call('DELETE /current-identity/mfa', { headers: { 'mfa-validation-code': code } })
            }
            onDone={answer.reload}
          />
        ) : (
          <>
            <p>Scan it with an authenticator app, keep the recovery codes, and type the code that the app shows.</p>
            <QrCode text={factor.provisioningUrl ?? ''} label="QR code of the second factor" />
            <p>Recovery codes:</p>
            <pre>{factor.recoveryCodes?.join(' ')}</pre>
            <SecretsForm
              fields={code}
              label="Turn it on"
              done="The second factor is on."
              act={({ code = '' }) => management.call('POST /current-identity/mfa/verify', { body: { code } })}
              onDone={answer.reload}
            />
          </>
        )
      }
    </Loaded>
  )
}

interface SecretsProps {
  /** The labels of the fields, by name. */
  readonly fields: Readonly<Record<string, string>>
  readonly label: string
  readonly done: string
  readonly act: (values: Readonly<Record<string, string>>) => Promise<unknown>
  readonly onDone?: () => void
}

/** Fields for secrets, which are emptied once they were sent; says so. */
function SecretsForm({ fields, label, done, act, onDone }: SecretsProps) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [isDone, setDone] = useState(false)
  const action = useAction()
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    setDone(false)
    if (!(await action.run(done, () => act(values)))) return
    setValues({})
    setDone(true)
    onDone?.()
  }
  return (
    <form class="fields" onSubmit={onSubmit}>
      {Object.entries(fields).map(([name, words]) => (
        <TextInput
          key={name}
          label={words}
          required
          type={name === 'code' ? 'text' : 'password'}
          autocomplete={{ code: 'one-time-code', password: 'new-password' }[name] ?? 'current-password'}
          value={values[name] ?? ''}
          onChange={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
      <ActionProblem of={action.problem} />
      {isDone && <p class="note">{done}</p>}
      <button type="submit" class="primary" disabled={action.isBusy}>
        {label}
      </button>
    </form>
  )
}
