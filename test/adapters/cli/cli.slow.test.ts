import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPkiMaterial, type PkiMaterial, VERSION } from 'portcullis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpsClient } from '../../support/https-fetch.ts'
import { withHttpServer } from '../node/raw-http.ts'
import { openTls, receiveAll, receiveUntil } from '../node/tls-client.ts'
import { endAll, portcullis, portIn, type Running } from './cli-process.ts'

const admin = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
const shortPassword = { ...admin, PORTCULLIS_ADMIN_PASSWORD: '1234' }
const LOCAL = ['--listen', '127.0.0.1:0', '--storage', 'memory']

/** The folder of all runs: `own` and `other` are two networks' PKIs in files, `pki` is made by the first run. */
let cwd: string

async function writeMaterial(name: string, material: PkiMaterial): Promise<void> {
  await writeFile(join(cwd, `${name}-ca.pem`), material.caPem)
  await writeFile(join(cwd, `${name}-signing.pem`), material.signingCertPem)
  await writeFile(join(cwd, `${name}-signing.key`), material.signingKeyPem)
  await writeFile(join(cwd, `${name}-server.pem`), material.serverCertPem)
  await writeFile(join(cwd, `${name}-server.key`), material.serverKeyPem)
}

/** Five files by name, those of `own` where nothing else is said. */
function files(
  change: { readonly [Option in 'server' | 'serverKey' | 'signing' | 'signingKey' | 'ca']?: string } = {},
) {
  return [
    ['--server-cert', change.server ?? 'own-server.pem'],
    ['--server-key', change.serverKey ?? 'own-server.key'],
    ['--signing-cert', change.signing ?? 'own-signing.pem'],
    ['--signing-key', change.signingKey ?? 'own-signing.key'],
    ['--ca', change.ca ?? 'own-ca.pem'],
  ].flat()
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-cli-'))
  const request = { hosts: ['127.0.0.1'], now: Date.now() }
  await writeMaterial('own', await createPkiMaterial({ ...request, trustDomain: 'own.example' }))
  await writeMaterial('other', await createPkiMaterial({ ...request, trustDomain: 'other.example' }))
  await writeFile(join(cwd, 'empty.pem'), '')
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, maxRetries: 10 })
})

const run = (args: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
  portcullis(args, { cwd, variables })

async function stop(service: Running, signal: NodeJS.Signals = 'SIGTERM') {
  service.kill(signal)
  return service.ended
}

/** The text that a member of a JSON document has. */
const memberOf = (member: string, json: string) => new RegExp(`"${member}":"([^"]+)"`).exec(json)?.[1] ?? ''

const readPem = (name: string) => readFile(join(cwd, name), 'utf8')

describe('serve', () => {
  it('creates PKI and admin, answers over HTTPS, and names the port that it got in enrollment tokens', async () => {
    const service = run(['serve', ...LOCAL, '--pki', 'pki', '--trust-domain', 'corp.example'], admin)
    const line = await service.ready
    const port = portIn(line)
    expect(line).toBe(`portcullis ready at https://127.0.0.1:${port}, advertised as 127.0.0.1:${port}, storage memory`)

    const ca = await readPem('pki/ca.pem')
    expect(new X509Certificate(ca).subjectAltName).toBe('URI:spiffe://corp.example')
    const { fetch, close } = httpsClient({ port, ca })
    const ask = async (path: string, token = '', body?: object) => {
      const headers = { 'content-type': 'application/json', 'zt-session': token }
      const sent = body && { method: 'POST', body: JSON.stringify(body) }
      return (await fetch(`/edge/management/v1${path}`, { headers, ...sent })).text()
    }
    const login = { username: admin.PORTCULLIS_ADMIN_USERNAME, password: admin.PORTCULLIS_ADMIN_PASSWORD }
    const token = memberOf('token', await ask('/authenticate?method=password', '', login))
    const identity = { name: 'laptop', type: 'Device', isAdmin: false, enrollment: { ott: true } }
    const id = memberOf('id', await ask('/identities', token, identity))
    const [, claims = ''] = memberOf('jwt', await ask(`/identities/${id}`, token)).split('.')
    expect(memberOf('iss', Buffer.from(claims, 'base64url').toString())).toBe(`https://127.0.0.1:${port}`)
    close()

    const { code, stdout, stderr } = await stop(service)
    expect(code).toBe(0)
    expect(stdout).toBe(`${line}\n`)
    expect(stderr).toMatch(/^portcullis: created certificates and keys in pki\n/)
    expect(stdout + stderr).not.toContain(admin.PORTCULLIS_ADMIN_PASSWORD)
  })

  it('reuses its PKI, warns when the certificate is for another host, and says how to get an admin', async () => {
    const args = ['serve', ...LOCAL, '--pki', 'reused']
    const first = run(args)
    await first.ready
    await stop(first)
    const ca = await readPem('reused/ca.pem')

    const second = run([...args, '--advertise', 'controller.example.org:443'])
    expect(await second.ready).toContain(', advertised as controller.example.org:443,')
    const { code, stderr } = await stop(second)
    expect(code).toBe(0)
    expect(await readPem('reused/ca.pem')).toBe(ca)
    const [warning = '', noAdmin] = stderr.split('\n')
    expect(JSON.parse(warning)).toMatchObject({
      level: 'warn',
      message: expect.stringContaining('the server certificate is not for the host of the address'),
      host: 'controller.example.org',
    })
    expect(noAdmin).toMatch(/there is no admin: PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD/)
  })

  it('takes its options from the environment, and from the command line rather', async () => {
    const service = run(['serve', '--listen', '127.0.0.1:0'], {
      PORTCULLIS_LISTEN: 'not an address',
      PORTCULLIS_ADVERTISE: 'edge.example.org:8443',
      PORTCULLIS_STORAGE: 'memory',
      PORTCULLIS_PKI: 'from-environment',
      PORTCULLIS_TRUST_DOMAIN: 'environment.example',
    })
    expect(await service.ready).toContain(', advertised as edge.example.org:8443, storage memory')
    expect((await stop(service)).code).toBe(0)
    const names = new X509Certificate(await readPem('from-environment/server.pem')).subjectAltName
    expect(names).toContain('DNS:edge.example.org, IP Address:127.0.0.1, DNS:localhost')
    expect(names).toContain('URI:spiffe://environment.example/')
  })

  it('serves with certificates and keys of its own, which win over a directory in the environment', async () => {
    const service = run(['serve', ...LOCAL, ...files()], { PORTCULLIS_PKI: '/nowhere' })
    const port = portIn(await service.ready)
    const { fetch, close } = httpsClient({ port, ca: await readPem('own-ca.pem') })
    expect((await fetch('/edge/management/v1/version')).status).toBe(200)
    close()
    expect((await stop(service)).code).toBe(0)
  })

  it('listens on IPv6 and on every interface', async () => {
    const six = run(['serve', ...LOCAL, '--listen', '[::1]:0', '--pki', 'pki'])
    const line = await six.ready
    expect(line).toContain(`at https://[::1]:${portIn(line)}, advertised as [::1]:${portIn(line)},`)
    const socket = await openTls(portIn(line), {
      host: '::1',
      ca: await readPem('pki/ca.pem'),
      rejectUnauthorized: true,
    })
    socket.destroy()
    expect((await stop(six)).code).toBe(0)

    const every = run(['serve', ...LOCAL, '--listen', '0.0.0.0:0', '--advertise', 'localhost:1280', '--pki', 'pki'])
    const port = portIn(await every.ready)
    expect((await httpsClient({ port, ca: await readPem('pki/ca.pem') }).fetch('/')).status).toBeGreaterThan(0)
    expect((await stop(every)).code).toBe(0)
  })
})

describe('stopping', () => {
  /** A service with a request in flight whose body lacks its last byte. */
  async function busyService() {
    const service = run(['serve', ...LOCAL, ...files()], admin)
    const socket = await openTls(portIn(await service.ready))
    const body = JSON.stringify({
      username: admin.PORTCULLIS_ADMIN_USERNAME,
      password: admin.PORTCULLIS_ADMIN_PASSWORD,
    })
    const head =
      'POST /edge/management/v1/authenticate?method=password HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue'
    socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`)
    // From here on the service knows of the request.
    await receiveUntil(socket, '100 Continue')
    socket.write(body.slice(0, -1))
    return { service, socket, rest: body.slice(-1) }
  }
  const until = async (service: Running, text: string) => {
    while (!service.stderrSoFar().includes(text)) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  it.each(['SIGTERM', 'SIGINT'] as const)('%s lets a request in flight finish, and ends with 0', async (signal) => {
    const { service, socket, rest } = await busyService()
    service.kill(signal)
    await until(service, `stopping on ${signal}`)
    const received = receiveAll(socket)
    socket.write(rest)
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect((await service.ended).code).toBe(0)
  })

  it('SIGTERM does not wait for half a request', async () => {
    const { service, socket } = await busyService()
    const started = performance.now()
    service.kill('SIGTERM')
    expect((await service.ended).code).toBe(0)
    expect(performance.now() - started).toBeLessThan(3000)
    socket.destroy()
  })

  it.each([
    { first: 'SIGTERM', second: 'SIGINT', waitMs: 0, code: 130 },
    { first: 'SIGTERM', second: 'SIGTERM', waitMs: 150, code: 143 },
  ] as const)('$second after $first ends it at once with $code', async ({ first, second, waitMs, code }) => {
    const { service, socket } = await busyService()
    service.kill(first)
    await until(service, `stopping on ${first}`)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    service.kill(second)
    expect((await service.ended).code).toBe(code)
    socket.destroy()
  })

  it('a signal during the start ends it with 0', async () => {
    const service = run(['serve', ...LOCAL, '--pki', 'interrupted'])
    while (!existsSync(join(cwd, 'interrupted'))) await new Promise((resolve) => setTimeout(resolve, 1))
    expect((await stop(service)).code).toBe(0)
  })
})

describe('answers', () => {
  it.each([
    { args: ['--version'], expected: `portcullis ${VERSION}\n` },
    { args: ['serve', '--version'], expected: `portcullis ${VERSION}\n` },
    { args: ['--help'], expected: /^usage: portcullis COMMAND[\s\S]*\n {2}serve / },
    { args: ['serve', '--help'], expected: /PORTCULLIS_ADMIN_PASSWORD[\s\S]*--advertise HOST:PORT/ },
  ])('$args', async ({ args, expected }) => {
    const { code, stdout, stderr } = await run(args).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
  })
})

describe('what cannot be used ends with 2 and one line that names it', () => {
  it.each<{ what: string; args: readonly string[]; line: RegExp; variables?: Readonly<Record<string, string>> }>([
    { what: 'no command', args: [], line: /portcullis serve/ },
    { what: 'an unknown command', args: ['frobnicate'], line: /'frobnicate'/ },
    { what: 'an unknown option', args: ['serve', '--admin-password=secret'], line: /'--admin-password'/ },
    { what: 'a malformed address', args: ['serve', '--listen', 'a\nb:1280'], line: /--listen .*'a b:1280'/ },
    { what: 'a storage', args: ['serve', '--storage', 'postgres://me:secret@host/db'], line: /--storage postgres:/ },
    { what: 'a short password', args: ['serve'], variables: shortPassword, line: /PORTCULLIS_ADMIN_PASSWORD/ },
    { what: 'an address of another machine', args: ['serve', '--listen', '192.0.2.1:0', ...files()], line: /--listen/ },
    {
      what: 'a PKI directory that is a file',
      args: ['serve', '--pki', 'own-ca.pem'],
      line: /own-ca\.pem: .*directory/,
    },
    { what: 'a file that is not there', args: ['serve', ...files({ ca: 'nowhere.pem' })], line: /nowhere\.pem: .*no/ },
    {
      what: 'an empty file',
      args: ['serve', ...files({ signing: 'empty.pem' })],
      line: /empty\.pem holds no PEM cert/,
    },
    {
      what: 'no key',
      args: ['serve', ...files({ serverKey: 'own-ca.pem' })],
      line: /own-ca\.pem holds no PEM private/,
    },
    {
      what: 'a server key',
      args: ['serve', ...files({ serverKey: 'other-server.key' })],
      line: /r\.key .*own-server\.p/,
    },
    {
      what: 'a signing key',
      args: ['serve', ...files({ signingKey: 'other-signing.key' })],
      line: /g\.key .*own-signing/,
    },
    {
      what: 'an authority',
      args: ['serve', ...LOCAL, ...files({ ca: 'other-ca.pem' })],
      line: /own-signing\.pem: .*root/,
    },
  ])('$what', async ({ args, line, variables }) => {
    const { code, stdout, stderr } = await run(args, variables ?? {}).ended
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^portcullis: [^\n]+\n$/)
    expect(stderr).toMatch(line)
    expect(stderr).not.toMatch(/secret|1234\b/)
  })

  it('a taken port, naming --listen', () =>
    withHttpServer(
      () => undefined,
      async (port) => {
        const { code, stdout, stderr } = await run(['serve', '--listen', `127.0.0.1:${port}`, ...files()]).ended
        expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
        expect(stderr).toMatch(/^portcullis: cannot listen on --listen 127\.0\.0\.1:\d+: .*in use[^\n]*\n$/)
      },
    ))
})
