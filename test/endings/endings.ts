import type { Ending } from './ending.ts'
import { ACCESS_ENDINGS } from './rows/access.ts'
import { CREDENTIAL_ENDINGS } from './rows/credentials.ts'
import { DIRECTORY_ENDINGS } from './rows/directory-entries.ts'
import { IDENTITY_ENDINGS } from './rows/identities.ts'
import { ROUTER_ENDINGS } from './rows/routers.ts'
import { SESSION_ENDINGS } from './rows/sessions.ts'
import { TERM_ENDINGS } from './rows/terms.ts'

/** The rows of the table. */
export const ENDINGS: readonly Ending[] = [
  ...SESSION_ENDINGS,
  ...IDENTITY_ENDINGS,
  ...CREDENTIAL_ENDINGS,
  ...ACCESS_ENDINGS,
  ...ROUTER_ENDINGS,
  ...TERM_ENDINGS,
  ...DIRECTORY_ENDINGS,
]
