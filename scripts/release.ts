// Checks, packs and publishes the package: npm run release tells what a release needs, runs all checks, and publishes to nobody;
// npm run release -- --publish publishes. Provenance is signed where continuous integration lends an identity to the job
// (.github/workflows/release.yml); elsewhere npm refuses it. The first publication is made by hand, with --first and without it.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { releaseNeeds } from './release-needs.ts'

const root = join(import.meta.dirname, '..')
const isRehearsal = !process.argv.includes('--publish')
const isFirst = process.argv.includes('--first')

function run(program: string, ...flags: readonly string[]): void {
  execFileSync(program, flags, { cwd: root, stdio: 'inherit' })
}

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8')
}

/** The versions that the registry has; empty without a package of the name, undefined without an answer. */
function publishedVersions(name: string): readonly string[] | undefined {
  const { status, stdout } = spawnSync('npm', ['view', name, 'versions', '--json'], { cwd: root, encoding: 'utf8' })
  try {
    const answer: unknown = JSON.parse(stdout)
    if (status === 0) return [answer].flat().map(String)
    return /"E404"/.test(stdout) ? [] : undefined
  } catch {
    return undefined
  }
}

const manifest = JSON.parse(read('package.json'))
const missing = releaseNeeds({
  manifest,
  changelog: read('CHANGELOG.md'),
  changesets: readdirSync(join(root, '.changeset')),
  changedFiles: execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }),
  published: publishedVersions(manifest.name),
  isFirst,
})
if (missing.length > 0) {
  console.error(['A release needs more:', ...missing.map((line) => `- ${line}`)].join('\n'))
  process.exit(1)
}

run('.ci/run')
run('npm', 'run', 'test:long')
run('npm', 'run', 'test:package')
const folder = mkdtempSync(join(tmpdir(), 'portcullis-release-'))
try {
  run('npm', 'pack', '--pack-destination', folder)
  const [tarball = ''] = readdirSync(folder)
  const rehearsal = isRehearsal ? ['--dry-run'] : []
  const provenance = isFirst ? [] : ['--provenance']
  run('npm', 'publish', join(folder, tarball), ...provenance, '--access', 'public', ...rehearsal)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(isRehearsal ? 'Everything is ready; npm run release -- --publish publishes.' : 'Published.')
