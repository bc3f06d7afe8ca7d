import { defineCommand } from '../command-line/command.ts'
import { PASSWORD_OPTIONS } from '../input/admin-credentials.ts'

const PROFILE = { value: 'NAME', variable: true, summary: 'which login; default: default' } as const

/** `portcullis login`. */
export const LOGIN = defineCommand({
  name: 'login',
  summary: 'log in to a controller, for the commands that ask one',
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
  run: async (call) => {
    const { logIn } = await import('./log-in.ts')
    return logIn(call)
  },
})

/** `portcullis logout`. */
export const LOGOUT = defineCommand({
  name: 'logout',
  summary: 'end a login, and forget it',
  options: { profile: PROFILE },
  run: async (call) => {
    const { logOut } = await import('./log-in.ts')
    return logOut(call)
  },
})

/** `portcullis profiles`. */
export const PROFILES = defineCommand({
  name: 'profiles',
  summary: 'list the logins that are kept',
  options: {},
  hasJson: true,
  run: async (call) => {
    const { listProfiles } = await import('./log-in.ts')
    return listProfiles(call)
  },
})
