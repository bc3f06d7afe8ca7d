import { execFile } from 'node:child_process'
import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

/** A project of a new user, which has nothing but the packed package. */
export interface NewProject {
  readonly folder: string
  /** The path of the packed package. */
  readonly tarball: string
}

/** Packs the package and installs it in an empty project of its own. */
export async function newProject(): Promise<NewProject> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-packed-'))
  await run('npm', ['pack', '--pack-destination', folder, '--loglevel=error'], { cwd: root })
  const tarball = join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '')
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'new-user', private: true, type: 'module' }))
  await install(folder, tarball)
  return { folder, tarball }
}

/** Installs packages in a project, in the versions that are for the Node of the tests. */
export async function install(folder: string, ...packages: readonly string[]): Promise<void> {
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
  await run('npm', ['install', ...packages, '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, env })
}

/** Installs packages that a registry may not have; answers why they are not there, if they are not. */
export async function whyNotInstalled(folder: string, ...packages: readonly string[]): Promise<string | undefined> {
  try {
    await install(folder, ...packages)
    return undefined
  } catch (error) {
    const reason = `${packages.join(', ')} cannot be installed: ${String(error).slice(0, 200)}`
    process.stdout.write(`${reason}\n`)
    return reason
  }
}
