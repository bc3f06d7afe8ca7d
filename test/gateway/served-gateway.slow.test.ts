import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endAll, portcullis } from '../adapters/cli/cli-process.ts'
import { AcmeServer } from '../support/acme-server.ts'
import { freePort } from '../support/free-port.ts'
import { type Issued, issue } from '../support/https-certificates.ts'

const HOME = 'apps.apps.example'

let cwd: string
let first: Issued
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-gateway-'))
  first = await put(await issue('first'))
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, maxRetries: 10 })
})

async function put(issued: Issued): Promise<Issued> {
  await writeFile(join(cwd, 'apps.pem'), issued.cert)
  await writeFile(join(cwd, 'apps.key'), issued.key)
  return issued
}

const GATEWAY = ['--gateway', '*.apps.example', '--gateway-cert', 'apps.pem', '--gateway-key', 'apps.key']
const ACME = ['--gateway', '*.apps.example', '--acme', '#web', '--acme-agree']
const serve = (...args: readonly string[]) =>
  portcullis(['serve', '--listen', '127.0.0.1:0', '--storage', 'memory', ...args], { cwd })

/** A program that is loaded first: it hides a package, as where it is not installed. */
const WITHOUT_PACKAGE = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== 'acme-client') return next(specifier, context)
      throw Object.assign(new Error("Cannot find package 'acme-client'"), { code: 'ERR_MODULE_NOT_FOUND' })
    },
  })
`

interface Answered {
  readonly status: number | undefined
  readonly location: string | undefined
  readonly subject: string
}

/** Asks a host of the gateway, whatever certificate it shows. */
function asked(port: number, host: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', servername: host, rejectUnauthorized: false, agent: false }
    const headers = { host, 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none', accept: 'text/html' }
    const sent = request({ ...options, headers }, (response) => {
      const { socket, statusCode: status } = response.resume()
      const subject = socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : ''
      resolve({ status, location: response.headers.location, subject })
    })
    sent.once('error', reject).end()
  })
}

it.each([
  ['is for a router', [...GATEWAY], '--gateway needs --router, by which it dials apps'],
  ['is for OpenID Connect', [...GATEWAY, '--router', '--oidc', 'off'], '--gateway needs logins by OpenID Connect'],
  ['is for one process', [...GATEWAY, '--router', '--workers', '2'], '--gateway is served by one process'],
  [
    'needs a certificate',
    ['--gateway', '*.apps.example', '--router'],
    'needs --gateway-cert and --gateway-key, a certificate for *.apps.example, or --acme',
  ],
  ['takes one kind', [...GATEWAY, '--router', '--acme', '#web'], '--acme stands in the place of --gateway-cert'],
  ['asks to agree', [...GATEWAY.slice(0, 2), '--router', '--acme', '#web'], '--acme needs --acme-agree'],
  ['needs roles', [...ACME.with(3, 'web'), '--router'], '--acme takes roles of services with commas between'],
  [
    'needs TLS',
    [...ACME, '--router', '--acme-directory', 'http://ca.example/'],
    'directory takes an address that begins',
  ],
  ['needs hosts', ['--gateway-cert', 'apps.pem', '--router'], 'is about the gateway of --gateway'],
  ['needs a pattern', [...GATEWAY.with(1, 'apps.example'), '--router'], '--gateway: '],
  ['needs files', [...GATEWAY.with(3, 'none.pem'), '--router'], 'cannot read none.pem'],
])('serve --gateway %s, and says so', async (_, args, message) => {
  const { code, stderr } = await serve(...args, '--gateway-listen', '127.0.0.1:0').ended
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

it('serve --gateway leads browsers to the login, and shows a renewed certificate without an end', async () => {
  const port = await freePort()
  const service = serve(...GATEWAY, '--router', '--gateway-listen', `127.0.0.1:${port}`)
  await service.ready
  expect(service.stderrSoFar()).toContain('the gateway opens apps to browsers at https://')
  const home = new URL(/at (https:\S+)/.exec(service.stderrSoFar())?.[1] ?? '').hostname
  const atApp = await asked(port, 'payroll.apps.example')
  expect(atApp).toMatchObject({ status: 303, subject: first.name.slice(3) })
  expect(new URL(atApp.location ?? '').hostname).toBe(home)
  expect((await asked(port, 'elsewhere.example')).status).toBe(421)

  // A renewal writes one file after the other: half of it is not put in use.
  const second = await issue('second')
  await writeFile(join(cwd, 'apps.pem'), second.cert)
  await expect
    .poll(() => service.stderrSoFar(), { timeout: 20_000 })
    .toContain('the renewed certificate of the gateway cannot be used, the one before stays in use')
  expect(await asked(port, HOME)).toMatchObject({ subject: 'first' })
  await put(second)
  await expect
    .poll(() => service.stderrSoFar(), { timeout: 20_000 })
    .toContain('put the renewed certificate of the gateway of apps.pem in use')
  expect(await asked(port, HOME)).toMatchObject({ subject: 'second' })
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
})

it('serve --acme names the gateway that it lacks, and the package that is not installed, also with --check', async () => {
  const { code, stderr } = await serve('--acme', '#web', '--acme-agree').ended
  expect(stderr).toContain('--acme is about the gateway of --gateway, which was not asked for')
  expect(code).toBe(2)
  const variables = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WITHOUT_PACKAGE)}` }
  const args = ['serve', '--listen', '127.0.0.1:0', '--storage', 'memory', '--router', ...ACME]
  const missing = await portcullis([...args, '--gateway-listen', '127.0.0.1:0'], { cwd, variables }).ended
  expect(missing.stderr).toContain('--acme takes the package acme-client: npm install acme-client')
  expect(missing.code).toBe(2)
  const checked = await portcullis([...args, '--check'], { cwd, variables }).ended
  expect(checked.stdout).toMatch(/^wrong +runtime: --acme takes the package acme-client: npm install acme-client$/m)
  expect(checked.code).toBe(3)
})

it('serve --acme orders certificates for the services of its roles, also of a new one, and has them after a restart', {
  timeout: 90_000,
}, async () => {
  const port = await freePort()
  const acme = await AcmeServer.start({ now: Date.now, port: () => port })
  const model = { services: [{ name: 'payroll', roleAttributes: ['web'] }, { name: 'database' }] }
  await writeFile(join(cwd, 'network.json'), JSON.stringify(model))
  const admin = { PORTCULLIS_ADMIN_USERNAME: 'admin', PORTCULLIS_ADMIN_PASSWORD: 'a-long-password' }
  const args = ['serve', '--listen', '127.0.0.1:0', '--router', '--gateway-listen', `127.0.0.1:${port}`, ...ACME]
  const started = () => portcullis([...args, '--acme-directory', acme.directory], { cwd, variables: admin })
  const first = started()
  const url = /https:\S+/.exec(await first.ready)?.[0]?.replace(/,$/, '') ?? ''
  await expect.poll(() => acme.issued, { timeout: 20_000 }).toEqual(['home.apps.example'])
  const applied = portcullis(['apply', 'network.json', '--url', url, '--ca', '.portcullis/pki/ca.pem'], {
    cwd,
    variables: admin,
  })
  expect(await applied.ended).toMatchObject({ code: 0 })
  await expect.poll(() => acme.issued, { timeout: 20_000 }).toEqual(['home.apps.example', 'payroll.apps.example'])
  await expect.poll(() => first.stderrSoFar()).toMatch(/the certificate of payroll.apps.example is good until \d{4}-/)
  expect(await asked(port, 'payroll.apps.example')).toMatchObject({ status: 303 })
  await expect(asked(port, 'database.apps.example')).rejects.toThrow(/handshake failure/)
  first.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)

  const second = started()
  await second.ready
  expect(await asked(port, 'payroll.apps.example')).toMatchObject({ status: 303 })
  second.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
  expect(acme.orders).toHaveLength(2)
  await acme.close()
})
