import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { writeDurably } from '../../../network/enrollment/index.ts'
import { type Environment, UsageError } from '../command-line/usage.ts'

/** A kept login: the controller and the API session. No password is kept. */
export interface Profile {
  readonly url: string
  /** The controller's trust bundle, PEM; without it the certificates of the system count. */
  readonly caPem?: string
  readonly username: string
  /** The API session token. */
  readonly token: string
}

export const DEFAULT_PROFILE = 'default'

/** Permission bits of everybody but the owner of a file. */
const NOT_OWNER = 0o077

/** The login profiles of a user: one file each, for its owner's eyes only. */
export class Profiles {
  readonly #directory: string

  /** They are in `PORTCULLIS_CONFIG_DIR`, else below the folder that the system has for configuration. */
  constructor({ PORTCULLIS_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA }: Environment) {
    const base = XDG_CONFIG_HOME || (process.platform === 'win32' && APPDATA) || join(homedir(), '.config')
    this.#directory = join(PORTCULLIS_CONFIG_DIR || join(base, 'portcullis'), 'profiles')
  }

  /** The profile of a name; undefined for an unknown name. Throws {@link UsageError} for a file that other users may read. */
  async read(name: string): Promise<Profile | undefined> {
    const file = this.#fileOf(name)
    const found = await stat(file).catch(() => undefined)
    if (found === undefined) return undefined
    if (process.platform !== 'win32' && (found.mode & NOT_OWNER) !== 0) {
      throw new UsageError(
        `${file} is open to other users of this machine: chmod 600 closes it, portcullis login renews it`,
      )
    }
    const content: unknown = JSON.parse(await readFile(file, 'utf8').catch(() => 'null'))
    if (!isProfile(content)) throw new UsageError(`${file} is no login profile: portcullis login makes it again`)
    return content
  }

  /** Keeps a profile, whole or not at all; answers its file, which is on the disk. */
  async write(name: string, profile: Profile): Promise<string> {
    const file = this.#fileOf(name)
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await writeDurably(file, `${JSON.stringify(profile, null, 2)}\n`)
    return file
  }

  async forget(name: string): Promise<void> {
    await rm(this.#fileOf(name), { force: true })
  }

  /** The names of all profiles, in order. */
  async names(): Promise<readonly string[]> {
    const files = await readdir(this.#directory).catch(() => [])
    return files.flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : [])).sort()
  }

  #fileOf(name: string): string {
    if (/^[a-z0-9][a-z0-9_.-]{0,63}$/i.test(name)) return join(this.#directory, `${name}.json`)
    throw new UsageError(`--profile takes letters, digits, dots, hyphens and underscores, at most 64: not '${name}'`)
  }
}

function isProfile(content: unknown): content is Profile {
  if (typeof content !== 'object' || content === null) return false
  return ['url', 'username', 'token'].every((member) => typeof Reflect.get(content, member) === 'string')
}
