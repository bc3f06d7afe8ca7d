import { existsSync } from 'node:fs'
import { type ApiClient, createManagementClient, type ManagementApi } from '../../../../src/client/index.ts'
import { type Answer, type CommandCall, defineCommand } from '../command-line/command.ts'
import { UsageError } from '../command-line/usage.ts'
import { logInByPassword, readControllerUrl } from '../connection/connect.ts'
import { DEFAULT_PROFILE, Profiles } from '../connection/profiles.ts'
import { readTrustBundle, type TrustBundle, trustingFetch } from '../connection/trusting-fetch.ts'
import { PASSWORD_OPTIONS, readPassword } from '../input/admin-credentials.ts'
import { withoutMistakes } from './model/model-files.ts'

const PROFILE = { value: 'NAME', variable: true, summary: 'which login; default: default' } as const

/** `portcullis login`. */
export const LOGIN = defineCommand({
  operands: '[https://HOST:PORT]',
  options: {
    username: { value: 'NAME', variable: true, summary: 'default: admin' },
    ...PASSWORD_OPTIONS,
    ca: {
      value: 'FILE',
      variable: true,
      summary: "the controller's trust bundle, PEM; default: .portcullis/pki/ca.pem where it is, else the system's",
    },
    code: { value: 'CODE', summary: 'the code of the second factor; it is asked for on a terminal' },
    profile: PROFILE,
  },
  hasJson: true,
  details: `Keeps the address, the trust bundle and the API session in a file for its owner alone, below
PORTCULLIS_CONFIG_DIR, else the configuration folder of the system (~/.config/portcullis/profiles). The password is not
kept: when the session has ended, which is after half an hour without use unless the controller says otherwise, log in
again. Without an address it is https://127.0.0.1:1280.`,
  examples: [
    'portcullis login https://ctrl.example.org:1280 --ca ca.pem',
    'portcullis login --profile staging https://staging.example.org:1280 --username keeper',
  ],
  run: logIn,
})

/** `portcullis logout`. */
export const LOGOUT = defineCommand({ options: { profile: PROFILE }, run: logOut })

/** `portcullis profiles`. */
export const PROFILES = defineCommand({ options: {}, hasJson: true, run: listProfiles })

type LoginOption = keyof typeof PASSWORD_OPTIONS | 'username' | 'ca' | 'code' | 'profile'

const DEFAULT_URL = 'https://127.0.0.1:1280'
/** The trust bundle that `serve` makes in a folder. */
const OWN_BUNDLE = '.portcullis/pki/ca.pem'

/** Logs in and keeps the API session in a profile. Throws {@link UsageError}. */
async function logIn(call: CommandCall<LoginOption>): Promise<Answer> {
  const { options, operands, environment, terminal } = call
  if (operands.length > 1) throw new UsageError('login takes one https://HOST:PORT; the password is no argument')
  const url = readControllerUrl(operands[0] ?? DEFAULT_URL, 'login')
  const trusted = await trustBundle(options.value('ca'))
  const username = options.value('username') ?? 'admin'
  const password = await readPassword({ options, terminal, isNew: false })
  const client = createManagementClient({ baseUrl: url, fetch: trustingFetch(trusted) })
  const data = await logInByPassword(client, { username, password })
  if (data.authQueries.length > 0) await answerSecondFactor(client.withToken(data.token), call)
  const name = options.value('profile') ?? DEFAULT_PROFILE
  const profile = { url, ...(trusted && { caPem: trusted.pem }), username, token: data.token }
  const file = await withoutMistakes(() => new Profiles(environment).write(name, profile))
  return { text: `logged in to ${url} as ${username}, kept in ${file}`, value: { profile: name, url, username, file } }
}

function trustBundle(file: string | undefined): Promise<TrustBundle> | undefined {
  if (file !== undefined) return readTrustBundle(file)
  return existsSync(OWN_BUNDLE) ? readTrustBundle(OWN_BUNDLE) : undefined
}

async function answerSecondFactor(
  client: ApiClient<ManagementApi>,
  { options, terminal }: CommandCall<LoginOption>,
): Promise<void> {
  const code = options.typed('code') ?? (await terminal.askSecret?.('Code of the second factor: '))
  if (code === undefined) throw new UsageError('the login needs a second factor: --code CODE')
  await client.call('POST /authenticate/mfa', { body: { code } })
}

/** Ends the API session of a profile and forgets it. */
async function logOut({ options, environment }: CommandCall<'profile'>): Promise<Answer> {
  const name = options.value('profile') ?? DEFAULT_PROFILE
  const profiles = new Profiles(environment)
  const profile = await profiles.read(name)
  if (profile === undefined) throw new UsageError(`there is no login ${name}`)
  const { url: baseUrl, token, caPem } = profile
  const trusted = caPem === undefined ? undefined : { pem: caPem, source: `the profile ${name}` }
  const client = createManagementClient({ baseUrl, token, fetch: trustingFetch(trusted) })
  // A session that has ended already, or a controller that is away, is no reason to keep it.
  const hasEnded = await client.call('DELETE /current-api-session').then(
    () => true,
    () => false,
  )
  await profiles.forget(name)
  return { text: hasEnded ? `logged out of ${baseUrl}` : `forgot the login to ${baseUrl}, which could not be reached` }
}

/** The profiles that are kept, without their sessions. */
async function listProfiles({ environment }: CommandCall): Promise<Answer> {
  const profiles = new Profiles(environment)
  const kept = await Promise.all(
    (await profiles.names()).map(async (name) => {
      const { url = '', username = '' } = (await profiles.read(name)) ?? {}
      return { name, url, username }
    }),
  )
  const text = kept.map(({ name, url, username }) => `${name}\t${url}\t${username}`).join('\n')
  return { text: text === '' ? 'there is none: portcullis login' : text, value: kept }
}
