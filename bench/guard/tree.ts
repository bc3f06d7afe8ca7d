import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** The root of the tree that is measured. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const Manifest = z.object({ bin: z.object({ portcullis: z.string() }) })

/** A tree of sources that can be run. */
export interface Tree {
  readonly name: string
  readonly folder: string
  /** The command line, as its package.json names it. */
  readonly commandLine: string
  /** Whether `dist` has the package as it is published. */
  readonly isBuilt: boolean
}

/** The tree as it is, also with what is not committed. `npm run bench` has built it. */
export async function ownTree(): Promise<Tree> {
  return { ...(await treeOf('this tree', ROOT)), isBuilt: true }
}

/** The tree of a commit in a folder of its own, built, with the dependencies that are installed here. */
export async function treeAt(commit: string, folder: string): Promise<Tree> {
  await mkdir(folder)
  const archive = execFileSync('git', ['-C', ROOT, 'archive', commit], { maxBuffer: 1 << 30 })
  const { status, stderr } = spawnSync('tar', ['-x', '-C', folder], { input: archive })
  if (status !== 0) throw new Error(`the tree of ${commit} could not be unpacked: ${stderr}`)
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const built = spawnSync('npm', ['run', 'build'], { cwd: folder })
  return { ...(await treeOf(commit, folder)), isBuilt: built.status === 0 }
}

/** The commit of the last release: its tag, or the commit that set the version that package.json has. */
export function lastRelease(): string {
  const tag = spawnSync('git', ['-C', ROOT, 'describe', '--tags', '--abbrev=0'], { encoding: 'utf8' })
  if (tag.status === 0) return tag.stdout.trim()
  const set = ['-C', ROOT, 'log', '-G', '^  "version": ', '--format=%h', '--', 'package.json']
  const [last] = execFileSync('git', set, { encoding: 'utf8' }).split('\n')
  if (last === undefined || last === '') throw new Error('there is no release: name a commit')
  return last
}

/** The tree of a folder. */
export async function treeOf(name: string, folder: string): Promise<Tree> {
  const { bin } = Manifest.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')))
  return {
    name,
    folder,
    isBuilt: false,
    commandLine: join(folder, bin.portcullis.replace('/dist/', '/').replace(/\.js$/, '.ts')),
  }
}
