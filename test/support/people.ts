import { TEST_ADMIN } from 'portcullis/testing'
import {
  type Answer,
  CLIENT,
  create,
  type ForeignClient,
  foreignClient,
  MANAGEMENT,
} from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { givePassword } from './identity-state.ts'

/** A complete auth policy, with changes to its password rules and second factors. */
export function authPolicy(
  name: string,
  updb: Readonly<Record<string, unknown>> = {},
  secondary: Readonly<Record<string, unknown>> = {},
  extJwt: Readonly<Record<string, unknown>> = {},
) {
  return {
    name,
    primary: {
      cert: { allowed: true, allowExpiredCerts: true },
      extJwt: { allowed: true, allowedSigners: [], ...extJwt },
      updb: {
        allowed: true,
        lockoutDurationMinutes: 0,
        maxAttempts: 0,
        minPasswordLength: 5,
        requireMixedCase: false,
        requireNumberChar: false,
        requireSpecialChar: false,
        ...updb,
      },
    },
    secondary: { requireTotp: false, requireExtJwtSigner: null, ...secondary },
  }
}

/** An identity with a password. */
export interface Person {
  readonly id: string
  readonly username: string
  readonly password: string
}

/** Creates an identity with a username (its name) and a password. */
export async function person(
  mounted: MountedController,
  admin: ForeignClient,
  name: string,
  change: Readonly<Record<string, unknown>> = {},
): Promise<Person> {
  const id = await create(admin, '/identities', { name, type: 'User', isAdmin: false, ...change })
  const credentials = { username: name, password: 'Correct-Horse-1' }
  await givePassword(mounted.controller, id, credentials)
  return { id, ...credentials }
}

/** Tries to log in by password. */
export function login(
  mounted: MountedController,
  { username, password }: { readonly username: string; readonly password: string } = TEST_ADMIN,
): Promise<Answer> {
  return foreignClient(mounted, CLIENT).post('/authenticate?method=password', { username, password })
}

/** Both APIs in a new API session of a person. */
export async function apisOf(mounted: MountedController, who: Person) {
  const { token } = (await login(mounted, who)).body.data
  return { token, api: foreignClient(mounted, CLIENT, token), management: foreignClient(mounted, MANAGEMENT, token) }
}
