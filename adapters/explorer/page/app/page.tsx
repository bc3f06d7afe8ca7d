import { LoginView } from '../session/login-view.tsx'
import { session } from '../session/session.ts'
import { Shell } from './shell.tsx'

/** The whole page: the login, or the views of who is logged in. */
export function Page() {
  const open = session.value
  return open ? <Shell session={open} /> : <LoginView />
}
