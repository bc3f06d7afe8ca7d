import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { createPkiMaterial } from 'portcullis'
import { httpsFetch } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { enrollRouter } from '../../examples/traffic/enroll.ts'
import { type Admin, createNetwork, letRoutersCarry, logIn } from '../../examples/traffic/network.ts'
import type { RouterConfig } from '../../examples/traffic/router-config.ts'
import { fetchFile, freePorts, openClock, serveWeb } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'
import { portcullis, portIn } from '../adapters/cli/cli-process.ts'
import { shortRoot } from '../support/certificates/short-root.ts'

type PkiMaterial = Awaited<ReturnType<typeof createPkiMaterial>>

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' }
const ziti = findZiti()
const MINUTE = 60_000

if (ziti === undefined)
  console.warn('SKIPPED: no real router, because there is no `ziti` on the path and ZITI names none')

let folder: string
let processes: ZitiProcesses
let web: Awaited<ReturnType<typeof serveWeb>>
let controller: ReturnType<typeof portcullis>
let admin: Admin
let byRouter = 0
let port = 0
const ids: Record<string, string> = {}
const running: Record<string, ReturnType<ZitiProcesses['start']>> = {}
const file = (name: string) => join(folder, name)

async function startRouter(name: string, options: readonly string[] = []): Promise<void> {
  running[name] = processes.start(file(`${name}.log`), ['router', 'run', ...options, file(`${name}.yml`)])
  await vi.waitUntil(async () => (await admin.call('GET', `/edge-routers/${ids[name]}`)).isOnline, { timeout: MINUTE })
}

async function enroll(name: string, config: Omit<RouterConfig, 'files'>): Promise<string> {
  const id = await enrollRouter(admin, ziti ?? '', { name, isTunnelerEnabled: true }, { ...config, files: file(name) })
  ids[name] = id
  await startRouter(name)
  return id
}

async function stopRouter(name: string): Promise<void> {
  running[name]?.kill('SIGKILL')
  await vi.waitUntil(async () => !(await admin.call('GET', `/edge-routers/${ids[name]}`)).isOnline, { timeout: MINUTE })
}

/** Runs `portcullis pki …` beside the processes that serve the storage. */
async function pki(...args: readonly string[]) {
  const run = portcullis(['pki', ...args, '--json', '--storage', 'sqlite:network.db', '--pki', 'pki'], { cwd: folder })
  const { code, stdout, stderr } = await run.ended
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

/** The issuer of the certificate that the controller shows to a client which trusts the first root alone. */
function issuerShown(ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => {
      resolve(String(socket.getPeerCertificate().issuer.CN))
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

/** Serves a network with two routers, one of which hosts what the other dials, by certificates that are made or are there. */
async function begin(material?: PkiMaterial): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-root-change-'))
  await mkdir(file('pki'), { mode: 0o700 })
  for (const [name, text] of Object.entries(material === undefined ? {} : filesOf(material)))
    await writeFile(file(`pki/${name}`), text, { mode: 0o600 })
  processes = new ZitiProcesses(ziti ?? '')
  web = await serveWeb()
  const [control = 0, link1 = 0, edge1 = 0, link2 = 0, edge2 = 0, proxied = 0] = await freePorts(6)
  byRouter = proxied
  const where = ['--listen', '127.0.0.1:0', '--control-listen', `127.0.0.1:${control}`, '--workers', '2']
  controller = portcullis(['serve', ...where, '--pki', 'pki', '--storage', 'sqlite:network.db'], {
    cwd: folder,
    variables: { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password },
  })
  port = portIn(await controller.ready)
  if (!(await enter(await readFile(file('pki/ca.pem'), 'utf8')))) throw new Error('no login')
  await createNetwork(admin, web.port)
  const hosting = await enroll('hosting', { linkPort: link1, edgePort: edge1 })
  const dials = { service: 'web-by-router', port: byRouter }
  const dialing = await enroll('dialing', { linkPort: link2, edgePort: edge2, proxied: dials })
  await letRoutersCarry(admin, hosting, dialing)
  await fetchFile(byRouter, MINUTE)
}

/** Logs the administrator in who trusts `ca`; false where the server cannot be trusted by it yet. */
async function enter(ca: string): Promise<boolean> {
  const fetch = httpsFetch({ ca })
  const atPort = (url: string) => url.replace('localhost', `127.0.0.1:${port}`)
  const found = await logIn({ fetch: (request) => fetch(new Request(atPort(request.url), request)) }, ADMIN).catch(
    () => undefined,
  )
  if (found !== undefined) admin = found
  return found !== undefined
}

async function end(): Promise<void> {
  await processes?.stop()
  web?.close()
  controller?.kill('SIGKILL')
  await controller?.ended
  console.log(`logs are in ${folder}`)
}

/** The files of a folder of certificates and keys. */
function filesOf(material: PkiMaterial): Readonly<Record<string, string>> {
  return {
    'ca.pem': material.caPem,
    'ca.key': material.caKeyPem,
    'signing.pem': material.signingCertPem,
    'signing.key': material.signingKeyPem,
    'server.pem': material.serverCertPem,
    'server.key': material.serverKeyPem,
  }
}

describe.skipIf(ziti === undefined)('a change of the root under routers that know the first one alone', () => {
  beforeAll(() => begin(), 3 * MINUTE)
  afterAll(end)

  it('cuts no circuit, and routers go on with the certificates that they have', { timeout: 3 * MINUTE }, async () => {
    const firstRoot = await readFile(file('pki/ca.pem'), 'utf8')
    const before = await issuerShown(firstRoot)
    const clock = await openClock(byRouter)
    const status = await pki('rotate', 'root', '--keep', '90d')
    expect(status.authorities.map(({ state }: { state: string }) => state)).toEqual(['issuing', 'next'])
    await vi.waitUntil(async () => (await issuerShown(firstRoot)) !== before, { timeout: MINUTE, interval: 500 })
    expect(clock.isTicking()).toBe(true)
    console.log(`a new circuit by the old certificates took ${await fetchFile(byRouter, MINUTE)} ms`)
    await vi.waitUntil(async () => (await pki('status')).progress.routers.outstanding === 2, { timeout: MINUTE })
    expect(clock.isTicking()).toBe(true)
    clock.close()
  })

  it('lets a router with a new certificate and one with an old one link to each other', {
    timeout: 4 * MINUTE,
  }, async () => {
    await stopRouter('dialing')
    await startRouter('dialing', ['--extend'])
    await vi.waitUntil(async () => (await pki('status')).progress.routers.renewed === 1, {
      timeout: MINUTE,
      interval: 1000,
    })
    await fetchFile(byRouter, MINUTE)
    await stopRouter('dialing')
    await startRouter('dialing')
    await fetchFile(byRouter, MINUTE)
  })

  it('goes on after the first root has ended, with routers that know both, or the second alone', {
    timeout: 4 * MINUTE,
  }, async () => {
    await stopRouter('hosting')
    await startRouter('hosting', ['--extend'])
    await vi.waitUntil(async () => (await pki('status')).progress.routers.renewed === 2, {
      timeout: MINUTE,
      interval: 1000,
    })
    const { bundle: both } = await pki('bundle')
    await copyFile(file('hosting.ca.pem'), file('hosting.ca.before.pem'))
    await writeFile(file('hosting.ca.pem'), both)
    const { authorities } = await pki('status')
    await pki('change', authorities[0].id, '--keep', '0', '--force')
    const { bundle } = await pki('bundle')
    expect(bundle.length).toBeLessThan(both.length)
    await writeFile(file('dialing.ca.pem'), bundle)
    for (const name of ['hosting', 'dialing']) {
      await stopRouter(name)
      await startRouter(name)
    }
    await fetchFile(byRouter, MINUTE)
  })
})

describe.skipIf(ziti === undefined)('a root that ran out under routers that know no other', () => {
  /** Long enough to enroll two routers, which takes half a minute on a busy machine. */
  const LIFE_MS = 2 * MINUTE
  let endsAt: number
  beforeAll(async () => {
    endsAt = Date.now() + LIFE_MS
    await begin(await shortRoot({ now: Date.now(), lifeMs: LIFE_MS }))
  }, 4 * MINUTE)
  afterAll(end)

  it('is followed by another one, whose bundle brings them back with the certificates that they have', {
    timeout: 8 * MINUTE,
  }, async () => {
    await vi.waitUntil(() => Date.now() > endsAt + 2000, { timeout: 2 * LIFE_MS, interval: 500 })
    for (const name of ['hosting', 'dialing']) running[name]?.kill('SIGKILL')
    const lost = processes.start(file('lost.log'), ['router', 'run', file('dialing.yml')])
    await vi.waitUntil(
      async () => /untrusted-certificate|certificate has expired/.test(await readFile(file('lost.log'), 'utf8')),
      MINUTE,
    )
    lost.kill('SIGKILL')
    await expect(pki('rotate', 'root')).rejects.toThrow('keepUntil is required')
    await pki('rotate', 'root', '--keep', '90d')
    const { bundle } = await pki('bundle')
    for (const name of ['hosting', 'dialing']) await writeFile(file(`${name}.ca.pem`), bundle)
    // The administrator needs the bundle as well.
    await vi.waitUntil(() => enter(bundle), { timeout: MINUTE, interval: 1000 })
    for (const name of ['hosting', 'dialing']) await startRouter(name, ['--extend'])
    console.log(`a circuit ${await fetchFile(byRouter, 2 * MINUTE)} ms`)
    await vi.waitUntil(async () => (await pki('status')).progress.routers.renewed === 2, {
      timeout: MINUTE,
      interval: 1000,
    })
    await fetchFile(byRouter, MINUTE)
  })
})
