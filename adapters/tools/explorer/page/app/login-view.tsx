import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../../../../../src/client/index.ts'
import { apisThrough } from '../api/apis.ts'
import { problemText } from '../api/problem-text.ts'
import { TextInput } from '../parts/fields.tsx'
import { isBackFromProvider, leaveForProvider, returnFromProvider } from '../session/openid.ts'
import { apisBy, farewell, openSession } from '../session/session.ts'

/** The login: a password, then a one-time code where it is due; or the OpenID provider. */
export function LoginView() {
  const [secondFactor, setSecondFactor] = useState<SecondFactor>()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(isBackFromProvider)

  const attempt = async (step: () => Promise<void>) => {
    setBusy(true)
    setProblem(undefined)
    await step().catch((error: unknown) => setProblem(loginProblem(error)))
    setBusy(false)
  }
  useEffect(() => {
    if (isBackFromProvider()) void attempt(returnFromProvider)
  }, [])

  const byPassword = (form: FormData) =>
    attempt(async () => setSecondFactor(await logInByPassword(textOf(form, 'username'), textOf(form, 'password'))))

  return (
    <main class="login" id="view">
      <div class="card login-card">
        <h1>
          <img src="./icon.svg" alt="" width="28" height="28" /> Portcullis explorer
        </h1>
        <p class="muted">of the controller at {location.host}</p>
        {farewell.value && !problem && <p class="note">{farewell.value}</p>}
        <p class="problem" role="alert">
          {problem}
        </p>
        {secondFactor ? (
          <CodeForm
            isBusy={isBusy}
            problem={problem}
            onCode={(code) => attempt(() => secondFactor.pass(code))}
            onBack={() => {
              setSecondFactor(undefined)
              setProblem(undefined)
            }}
          />
        ) : (
          <>
            <PasswordForm isBusy={isBusy} onForm={byPassword} />
            <p class="or">or</p>
            <button type="button" class="wide" disabled={isBusy} onClick={() => attempt(leaveForProvider)}>
              Log in with OpenID Connect
            </button>
          </>
        )}
      </div>
    </main>
  )
}

function PasswordForm({ isBusy, onForm }: { isBusy: boolean; onForm: (form: FormData) => void }) {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    if (event.currentTarget instanceof HTMLFormElement) onForm(new FormData(event.currentTarget))
  }
  return (
    <form class="fields" onSubmit={onSubmit}>
      <TextInput label="Username" name="username" autocomplete="username" required autofocus spellcheck={false} />
      <TextInput label="Password" name="password" type="password" autocomplete="current-password" required />
      <button type="submit" class="primary wide" disabled={isBusy}>
        {isBusy ? 'Logging in…' : 'Log in'}
      </button>
    </form>
  )
}

interface CodeProps {
  readonly isBusy: boolean
  readonly problem: string | undefined
  readonly onCode: (code: string) => void
  readonly onBack: () => void
}

function CodeForm({ isBusy, problem, onCode, onBack }: CodeProps) {
  const input = useRef<HTMLInputElement>(null)
  // A code that was wrong is written over by the next.
  useEffect(() => input.current?.select(), [problem])
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    onCode(input.current?.value.trim() ?? '')
  }
  return (
    <form class="fields" onSubmit={onSubmit}>
      <label>
        Code of your authenticator app
        <input ref={input} name="code" inputMode="numeric" autocomplete="one-time-code" required />
      </label>
      <button type="submit" class="primary wide" disabled={isBusy}>
        Continue
      </button>
      <button type="button" class="wide" onClick={onBack}>
        Log in as somebody else
      </button>
    </form>
  )
}

function loginProblem(error: unknown): string {
  if (!(error instanceof ApiError)) return problemText(error)
  if (error.code === 'MFA_INVALID_TOKEN') return 'The code is not right.'
  if (error.code === 'INVALID_AUTH') return 'The username or the password is not right.'
  return error.status === 401 ? 'This login is not let in here.' : error.message
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

/** The second factor that a login still needs: a one-time code that `pass` takes. */
export interface SecondFactor {
  readonly pass: (code: string) => Promise<void>
}

/** Logs in by password; answers the factor that is still due. Rejects with `ApiError`. */
async function logInByPassword(username: string, password: string): Promise<SecondFactor | undefined> {
  const login = { query: { method: 'password' as const }, body: { username, password } }
  const unsigned = apisThrough((request) => fetch(new Request(request, { credentials: 'omit', cache: 'no-store' })))
  const { data } = await unsigned.management.call('POST /authenticate', login)
  const credential = { kind: 'session' as const, token: data.token }
  if (data.authQueries.length === 0) {
    await openSession(credential)
    return undefined
  }
  return {
    pass: async (code) => {
      await apisBy(credential).management.call('POST /authenticate/mfa', { body: { code } })
      await openSession(credential)
    },
  }
}
