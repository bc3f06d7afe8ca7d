import { readFile, stat } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { GivenOptions } from '../command-line/options.ts'
import { type Environment, UsageError } from '../command-line/usage.ts'
import type { Terminal } from '../output.ts'

export const ADMIN_USERNAME = 'PORTCULLIS_ADMIN_USERNAME'
export const ADMIN_PASSWORD = 'PORTCULLIS_ADMIN_PASSWORD'

/** The credentials that the default admin of an empty store logs in with. */
export interface AdminCredentials {
  readonly username: string
  readonly password: string
}

/**
 * The credentials in the environment; undefined when both are absent. Throws {@link UsageError} when one is missing, or has a length that
 * the management API refuses: usernames 4 to 100 characters, passwords 5 to 100.
 */
export function adminCredentials(environment: Environment): AdminCredentials | undefined {
  const username = environment[ADMIN_USERNAME] ?? ''
  const password = environment[ADMIN_PASSWORD] ?? ''
  if (username === '' && password === '') return undefined
  if (username === '') throw new UsageError(`${ADMIN_PASSWORD} is set without ${ADMIN_USERNAME}`)
  if (password === '') throw new UsageError(`${ADMIN_USERNAME} is set without ${ADMIN_PASSWORD}`)
  requireLengths({ username, password }, { username: ADMIN_USERNAME, password: ADMIN_PASSWORD })
  return { username, password }
}

/**
 * Requires the lengths that the management API asks for: of a username 4 to 100 characters, of a password 5 to 100. Throws {@link
 * UsageError} with the user's name for the value.
 */
export function requireLengths(
  { username, password }: AdminCredentials,
  names: Readonly<Record<keyof AdminCredentials, string>>,
): void {
  checkLength(names.username, username, 4)
  checkLength(names.password, password, 5)
}

/** The value itself stays out of the message: it may be a secret. */
function checkLength(name: string, value: string, least: number): void {
  if (value.length < least || value.length > 100) {
    throw new UsageError(`${name} must have ${least} to 100 characters, it has ${value.length}`)
  }
}

/** Where a password comes from: never from the command line, which every user of the machine may read. */
export const PASSWORD_OPTIONS = {
  'password-stdin': { summary: 'read the password from standard input' },
  'password-file': { value: 'FILE', summary: 'read the password from the first line of a file' },
} as const

/** The permission bits that let users other than the owner and the group read or write a file. */
const OTHERS = 0o006

/** How a password is read. */
interface PasswordQuestion {
  readonly options: GivenOptions<keyof typeof PASSWORD_OPTIONS>
  readonly terminal: Pick<Terminal, 'askSecret' | 'tell'>
  /** Asks twice, for a password that is new. */
  readonly isNew: boolean
}

/** The password that the options name, else the answer at the prompt. Throws {@link UsageError}. */
export async function readPassword({ options, terminal, isNew }: PasswordQuestion): Promise<string> {
  const file = options.typed('password-file')
  if (options.flag('password-stdin')) {
    if (file !== undefined) throw new UsageError('--password-stdin and --password-file exclude each other')
    return oneLine(await text(process.stdin), '--password-stdin')
  }
  if (file !== undefined) return readPasswordFile(file, terminal)
  if (terminal.askSecret === undefined) {
    throw new UsageError('there is no terminal to ask for the password: --password-stdin or --password-file FILE')
  }
  const password = await terminal.askSecret(isNew ? 'New password: ' : 'Password: ')
  if (isNew && (await terminal.askSecret('Again: ')) !== password) throw new UsageError('the two passwords differ')
  if (password === '') throw new UsageError('nothing was entered')
  return password
}

async function readPasswordFile(file: string, { tell }: Pick<Terminal, 'tell'>): Promise<string> {
  let content: string
  try {
    content = await readFile(file, 'utf8')
    const { mode } = await stat(file)
    // Windows has no such permissions, and reports some for every file.
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
      tell(`warning: ${file} is open to every user of this machine: chmod 600 closes it`)
    }
  } catch (error) {
    throw new UsageError(`--password-file: '${file}' cannot be read`, { cause: error })
  }
  return oneLine(content.split('\n').slice(0, 1).join(''), '--password-file')
}

function oneLine(content: string, option: string): string {
  const line = content.replace(/\r?\n$/, '').replace(/\r$/, '')
  if (line === '') throw new UsageError(`${option}: there is no password`)
  if (/[\r\n]/.test(line)) throw new UsageError(`${option}: a password is one line`)
  return line
}
