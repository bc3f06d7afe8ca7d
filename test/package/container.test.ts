import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { httpsClient } from '../support/https-fetch.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'examples/deployment')
const isRoot = process.getuid?.() === 0
const canBuild = process.env.PORTCULLIS_PACKAGE === 'all' && isRoot && spawnSync('buildah', ['--version']).status === 0

let place = ''
let packed = ''
let buildah = (..._words: readonly string[]): string => ''
const running = new Set<ChildProcess>()

beforeAll(() => {
  if (process.env.PORTCULLIS_PACKAGE !== 'all') return
  place = mkdtempSync(join(tmpdir(), 'portcullis-container-'))
  execFileSync('npm', ['pack', '--pack-destination', place, '--loglevel=error'], { cwd: root, stdio: 'ignore' })
  packed = execFileSync('sh', ['-c', 'ls *.tgz'], { cwd: place, encoding: 'utf8' }).trim()
  const stores = ['--storage-driver', 'vfs', '--root', join(place, 'images'), '--runroot', join(place, 'run')]
  buildah = (...words) =>
    execFileSync('buildah', [...stores, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}, 400_000)
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  if (place !== '') rmSync(place, { recursive: true, force: true })
})

describe.runIf(canBuild)('Containerfile', () => {
  it('builds an image whose entrypoint serves without root over files that are read only', async () => {
    ensureBase()
    const archive = createServer((_request, response) => response.end(readFileSync(join(place, packed))))
    archive.listen(0, '127.0.0.1')
    await once(archive, 'listening')
    const address = archive.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    // In a process of its own: this one answers with the package meanwhile.
    const stores = ['--storage-driver', 'vfs', '--root', join(place, 'images'), '--runroot', join(place, 'run')]
    const build = spawn(
      'buildah',
      [
        ...stores,
        ...['bud', '--isolation', 'chroot', '--format', 'docker', '--network', 'host', '-t', 'portcullis'],
        ...[
          '--volume',
          '/etc/ssl/certs:/etc/ssl/certs:ro',
          '--build-arg',
          `PACKAGE=http://127.0.0.1:${port}/${packed}`,
        ],
        ...['-f', join(folder, 'Containerfile'), folder],
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    )
    const [code] = await once(build, 'close')
    archive.close()
    expect(code).toBe(0)

    const container = buildah('from', '--pull-never', 'localhost/portcullis')
    const files = buildah('mount', container)
    const image = JSON.parse(buildah('inspect', container)).Docker.config
    expect(image.User).toBe('1000:1000')
    const served = await freePort()
    const words = [...image.Entrypoint, ...image.Cmd].map((word: string) => word.replace('1280', String(served)))
    const data = join(place, 'data')
    mkdirSync(data)
    chownSync(data, 1000, 1000)
    // The container of this test is a namespace of mounts, an image that nobody writes to, one volume, and the user of the image.
    const script = `set -e
      mount --bind "${files}" "${files}"; mount -t tmpfs tmpfs "${files}/tmp"; mount --bind "${data}" "${files}/data"
      mount --rbind /dev "${files}/dev"; mount -t proc proc "${files}/proc"; mount -o remount,bind,ro "${files}"
      exec chroot --userspec=${image.User} "${files}" env -i "$@"`
    const variables = [...image.Env, `PORTCULLIS_ADVERTISE=ctrl.example.org:${served}`]
    const inside = ['sh', '-c', `cd ${image.WorkingDir}; touch /app/x && exit 9; exec "$0" "$@"`, ...words]
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', ...variables, ...inside])
    running.add(child)
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    await expect.poll(() => printed, { timeout: 60_000, interval: 200 }).toContain('portcullis ready at ')
    const health: readonly string[] = image.Healthcheck.Test
    expect(health[0]).toBe('CMD')
    const { fetch, close } = httpsClient({ port: served })
    await expect.poll(async () => (await fetch('/readyz')).status, { timeout: 20_000 }).toBe(200)
    close()
    const check = health.slice(1).map((word) => word.replace('1280', String(served)))
    expect(spawnSync('chroot', [`--userspec=${image.User}`, files, 'env', '-i', ...image.Env, ...check]).status).toBe(0)
    child.kill(image.StopSignal ?? 'SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
  }, 600_000)
})

/** The base image from its registry; where that is out of reach, one of the programs of this machine under its name. */
function ensureBase(): void {
  const name = 'docker.io/library/node:24-slim'
  try {
    buildah('pull', name)
    return
  } catch {
    const base = join(place, 'base')
    const copy = (from: string, to = from) => {
      mkdirSync(join(base, dirname(to)), { recursive: true })
      cpSync(realpathSync(from), join(base, to), { recursive: true })
    }
    const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))
    copy(npm, '/usr/lib/node_modules/npm')
    copy(process.execPath, '/usr/bin/node')
    const programs = ['sh', 'env', 'mkdir', 'chown', 'touch', 'sleep'].map((name) => `/usr/bin/${name}`)
    for (const program of programs) copy(program)
    const libraries = execFileSync('ldd', ['/usr/bin/node', ...programs], { encoding: 'utf8' })
    for (const [library] of libraries.matchAll(/\/lib[^ ]+/g)) copy(library)
    copy('/etc/ssl/certs/ca-certificates.crt')
    for (const directory of ['tmp', 'proc', 'dev', 'etc', 'root']) mkdirSync(join(base, directory), { recursive: true })
    writeFileSync(join(base, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n')
    const description =
      'FROM scratch\nCOPY . /\nENV PATH=/usr/bin NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt\n'
    writeFileSync(join(place, 'Base'), `${description}RUN ["/usr/bin/sh", "-c", "exit 0"]\n`)
    execFileSync('ln', ['-s', 'usr/bin', join(base, 'bin')])
    execFileSync('ln', ['-s', '/usr/lib/node_modules/npm/bin/npm-cli.js', join(base, 'usr/bin/npm')])
    buildah('bud', '--isolation', 'chroot', '-t', name, '-f', join(place, 'Base'), base)
  }
}
