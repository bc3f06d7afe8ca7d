import { z } from 'zod'
import { described } from '../../kernel/declaration/words.ts'
import { Password, Username } from '../credentials/authenticator.resource.ts'
import { EnvInfo, SdkInfo } from '../identities/identity.resource.ts'

/** POST /authenticate: a client's facts about itself, and its password for a login by password. */
export const LoginRequest = described(
  z.object({
    configTypes: z.array(z.string().max(1024)).max(1000).nullish(),
    envInfo: EnvInfo.nullish(),
    password: Password.optional(),
    sdkInfo: SdkInfo.nullish(),
    username: Username.optional(),
  }),
  {
    configTypes:
      'Config types, by id or name, whose configs the session sees in services; `all` for every type. Unknown ones do not matter.',
    envInfo: 'The environment of the client, kept with the identity.',
    password: 'The password, for `password`; 5 to 100 characters.',
    sdkInfo: 'The SDK of the client, kept with the identity.',
    username: 'The username, for `password`; 4 to 100 characters, case matters.',
  },
)

/** A one-time password or a recovery code. */
export const MfaCode = z.string().max(64)

/** The new credentials of an administrator; the auth policy judges the password. */
export const AdministratorReset = z.object({
  password: z.string().max(100),
  username: z.string().max(100).optional(),
  passwordOnly: z.boolean().optional(),
})
