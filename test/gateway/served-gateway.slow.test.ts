import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endAll, portcullis } from '../adapters/cli/cli-process.ts'
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
  await rm(cwd, { recursive: true })
})

async function put(issued: Issued): Promise<Issued> {
  await writeFile(join(cwd, 'apps.pem'), issued.cert)
  await writeFile(join(cwd, 'apps.key'), issued.key)
  return issued
}

const GATEWAY = ['--gateway', '*.apps.example', '--gateway-cert', 'apps.pem', '--gateway-key', 'apps.key']
const serve = (...args: readonly string[]) =>
  portcullis(['serve', '--listen', '127.0.0.1:0', '--storage', 'memory', ...args], { cwd })

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
  ['needs a certificate', ['--gateway', '*.apps.example', '--router'], 'needs --gateway-cert and --gateway-key'],
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
