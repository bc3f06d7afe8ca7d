import { execFileSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** The revision that counts as the last release for as long as no release has a tag. */
const BEFORE_TAGS = '443a840f'

/**
 * The git revision of the last release: what `PORTCULLIS_LAST_RELEASE` names, else the newest tag `v*` that this revision does not
 * have itself, else a fixed one. Undefined where the history is not there, as in an archive or a shallow clone. Throws when the
 * variable names what the history does not hold.
 */
export function lastRelease(): string | undefined {
  const named = process.env.PORTCULLIS_LAST_RELEASE
  if (named !== undefined && named !== '') {
    if (isThere(named)) return named
    throw new Error(`PORTCULLIS_LAST_RELEASE names ${named}, which the git history does not hold`)
  }
  const tags = git('tag', '--list', 'v*', '--no-contains', 'HEAD', '--sort=-version:refname')?.split('\n') ?? []
  return [...tags.slice(0, 1), BEFORE_TAGS].find((revision) => revision !== '' && isThere(revision))
}

/** Puts the source of a revision in a folder, beside the packages of this one; answers it as `portcullis` of the tests takes it. */
export async function unpackRelease(revision: string, folder: string): Promise<string> {
  const project = join(folder, 'last-release')
  await mkdir(project)
  execFileSync('sh', ['-ec', 'git archive "$0" | tar -x -C "$1"', revision, project], { cwd: PROJECT })
  await symlink(join(PROJECT, 'node_modules'), join(project, 'node_modules'))
  return `${project}/`
}

function isThere(revision: string): boolean {
  return git('cat-file', '-e', `${revision}^{commit}`) !== undefined
}

/** The output of git; undefined when it is not installed, or says no. */
function git(...words: readonly string[]): string | undefined {
  try {
    return execFileSync('git', words, { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}
