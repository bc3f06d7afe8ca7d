import { useEffect, useState } from 'preact/hooks'
import { isAway, resumeSession, SessionApis, session } from '../session/session.ts'
import { LoginView } from './login-view.tsx'
import { Shell } from './shell.tsx'

/** The whole page: the views for a logged in user, or the login. The login may be from before a reload or from another tab. */
export function Page() {
  const [isAsked, setAsked] = useState(false)
  useEffect(() => {
    void resumeSession().finally(() => setAsked(true))
  }, [])
  const open = session.value
  if (open) {
    return (
      <SessionApis.Provider value={open.apis}>
        <Shell session={open} />
      </SessionApis.Provider>
    )
  }
  if (isAsked) return <LoginView />
  if (!isAway.value) return null
  return (
    <p class="empty" role="status">
      The controller was not reached. Trying again…
    </p>
  )
}
