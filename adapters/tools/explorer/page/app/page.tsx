import { useEffect, useState } from 'preact/hooks'
import { LoginView } from '../session/login-view.tsx'
import { resumeSession, session } from '../session/session.ts'
import { Shell } from './shell.tsx'

/** The whole page: the views of a logged in caller, who may have logged in before a reload or in another tab, or the login. */
export function Page() {
  const [isAsked, setAsked] = useState(false)
  useEffect(() => {
    void resumeSession().finally(() => setAsked(true))
  }, [])
  const open = session.value
  if (open) return <Shell session={open} />
  return isAsked ? <LoginView /> : null
}
