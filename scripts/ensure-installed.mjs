// Installs the dependencies when `node_modules` is missing or older than the lock file, so that `npm start` and
// `npm test` work as the first command on a fresh clone. It runs on the machine's own Node and imports no package.
import { spawnSync } from 'node:child_process'
import { lstatSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modified = (path) => statSync(new URL(`../${path}`, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0
const isLink =
  lstatSync(new URL('../node_modules', import.meta.url), { throwIfNoEntry: false })?.isSymbolicLink() ?? false

if (modified('node_modules/.package-lock.json') < modified('package-lock.json')) {
  if (isLink) {
    // npm empties the folder behind the link first, and other working trees load from it.
    console.error(
      'node_modules is a link and older than the lock file: it is used as it is. Install where it leads to.',
    )
  } else {
    install()
  }
}

function install() {
  console.log('Installing dependencies (once) …')
  const npm = process.env.npm_execpath
  const [command, ...prefix] = npm ? [process.execPath, npm] : ['npm']
  const { status } = spawnSync(command, [...prefix, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) {
    console.error('Installing the dependencies failed: see the lines above.')
    process.exit(status ?? 1)
  }
}
