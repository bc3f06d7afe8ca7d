import type { Environment } from '../settings/setting.ts'
import { UsageError } from '../settings/usage-error.ts'

export const ADMIN_USERNAME = 'PORTCULLIS_ADMIN_USERNAME'
export const ADMIN_PASSWORD = 'PORTCULLIS_ADMIN_PASSWORD'

/** What the default admin of an empty store logs in with. */
export interface AdminCredentials {
  readonly username: string
  readonly password: string
}

/**
 * The credentials in the environment, undefined when there are none. Throws {@link UsageError} when one is missing, or when
 * one has not the length that the management API asks for: usernames 4 to 100 characters, passwords 5 to 100.
 */
export function adminCredentials(environment: Environment): AdminCredentials | undefined {
  const username = environment[ADMIN_USERNAME] ?? ''
  const password = environment[ADMIN_PASSWORD] ?? ''
  if (username === '' && password === '') return undefined
  if (username === '') throw new UsageError(`${ADMIN_PASSWORD} is set without ${ADMIN_USERNAME}`)
  if (password === '') throw new UsageError(`${ADMIN_USERNAME} is set without ${ADMIN_PASSWORD}`)
  checkLength(ADMIN_USERNAME, username, 4)
  checkLength(ADMIN_PASSWORD, password, 5)
  return { username, password }
}

/** The value itself stays out of the message: it may be a secret. */
function checkLength(name: string, value: string, least: number): void {
  if (value.length < least || value.length > 100) {
    throw new UsageError(`${name} must have ${least} to 100 characters, it has ${value.length}`)
  }
}
