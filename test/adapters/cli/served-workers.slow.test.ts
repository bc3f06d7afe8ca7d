import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManagementClient } from 'portcullis/client'
import { httpsFetch } from 'portcullis/node'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { opensslFolder } from '../../support/openssl-folder.ts'
import { renewedServerCertificate } from '../../support/renewed-certificate.ts'
import { openTls, receiveUntil } from '../node/tls-client.ts'
import { endAll, portcullis, portIn, type Running, workersOf } from './cli-process.ts'

const ADMIN = { username: 'keeper', password: 'a-secret-of-mine' }
const variables = { PORTCULLIS_ADMIN_USERNAME: ADMIN.username, PORTCULLIS_ADMIN_PASSWORD: ADMIN.password }
/** Milliseconds that processes may take on a machine that has much else to do. */
const PATIENCE_MS = 120_000
const PATIENCE = { timeout: PATIENCE_MS, interval: 50 }
let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-workers-'))
})
afterEach(endAll)
afterAll(() => rm(cwd, { recursive: true, force: true }))

const serve = (...args: readonly string[]) =>
  portcullis(['serve', '--listen', '127.0.0.1:0', '--workers', '2', ...args], { cwd, variables })

/** The process that answers on a new connection, and the fingerprint of the certificate that it shows. */
async function whoAnswers(port: number) {
  const socket = await openTls(port)
  socket.write('GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  const head = await receiveUntil(socket, '\r\n\r\n')
  const shown = socket.getPeerX509Certificate()?.fingerprint256
  socket.destroy()
  return { instance: /^ziti-instance-id: (\S+)/im.exec(head)?.[1] ?? '', shown }
}

/** An administrator's client that opens a connection for each request, so that all workers are asked. */
async function administrator(running: Running) {
  const baseUrl = `https://127.0.0.1:${portIn(await running.ready)}`
  const ca = readFileSync(join(cwd, '.portcullis/pki/ca.pem'), 'utf8')
  const instances = new Set<string | null>()
  const fetch = async (request: Request) => {
    const response = await httpsFetch({ ca })(request)
    instances.add(response.headers.get('ziti-instance-id'))
    return response
  }
  const anonymous = createManagementClient({ baseUrl, fetch })
  const { data } = await anonymous.call('POST /authenticate', { query: { method: 'password' }, body: ADMIN })
  return { client: anonymous.withToken(data.token), instances }
}

describe.skipIf(process.platform !== 'linux')('portcullis serve --workers', { timeout: PATIENCE_MS }, () => {
  it('answers by several processes behind one port, and replaces one that is killed without losing a write', async () => {
    const running = serve()
    const { client, instances } = await administrator(running)
    expect(await running.ready).toMatch(/, 2 workers$/)
    const before = workersOf(running.pid)
    expect(before).toHaveLength(2)

    const acknowledged: string[] = []
    let isOver = false
    const write = async (writer: number) => {
      for (let turn = 0; !isOver; turn += 1) {
        const body = { name: `service ${writer} ${turn}`, encryptionRequired: true }
        // A request to the process that is killed may fail: it was not acknowledged then.
        const created = await client.call('POST /services', { body }).catch(() => undefined)
        if (created !== undefined) acknowledged.push(created.data.id)
      }
    }
    const writing = Promise.all([write(1), write(2)])
    await vi.waitUntil(() => acknowledged.length > 10, PATIENCE)
    process.kill(before[0] ?? 0, 'SIGKILL')
    await vi.waitUntil(() => {
      const now = workersOf(running.pid)
      return now.length === 2 && !now.includes(before[0] ?? 0)
    }, PATIENCE)
    // Two of before, and the one that was started since.
    await vi.waitUntil(() => instances.size === 3, PATIENCE)
    isOver = true
    await writing
    const kept = new Set<string>()
    for await (const { id } of client.listAll('GET /services')) kept.add(id)
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])

    const begun = performance.now()
    running.kill('SIGTERM')
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(performance.now() - begun).toBeLessThan(6000)
    expect(stderr).toMatch(/worker \d \(process \d+\) ended and is started again/)
    expect(workersOf(running.pid)).toEqual([])
  })

  it('puts a renewed certificate in use in each process', async () => {
    const running = serve()
    const port = portIn(await running.ready)
    const openssl = opensslFolder()
    onTestFinished(() => openssl.remove())
    const pki = (name: string) => join(cwd, '.portcullis/pki', name)
    for (const name of ['signing.pem', 'signing.key']) openssl.write(name, readFileSync(pki(name)))
    const { cert, key } = renewedServerCertificate(openssl)
    const { fingerprint256 } = new X509Certificate(cert)
    await writeFile(pki('server.pem'), cert + openssl.read('signing.pem'))
    await writeFile(pki('server.key'), key)
    const renewed = new Set<string>()
    await vi.waitUntil(async () => {
      const { instance, shown } = await whoAnswers(port)
      if (shown === fingerprint256) renewed.add(instance)
      else expect(renewed, 'a process went back to the certificate before').not.toContain(instance)
      return renewed.size === 2
    }, PATIENCE)
    running.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  it('ends as a single process would when it cannot begin', async () => {
    const pki = ['--server-cert', 'none.pem', '--server-key', 'none.pem', '--signing-cert', 'none.pem']
    const { code, stderr } = await serve(...pki, '--signing-key', 'none.pem', '--ca', 'none.pem').ended
    expect(code).toBe(2)
    expect(stderr).toMatch(/none\.pem/)
  })

  it.each([
    [['--storage', 'memory'], /--workers needs a storage that processes share/],
    [['--workers', '0'], /--workers takes auto, or a number from 1 to 256, not '0'/],
    [['--control-listen', '127.0.0.1:65535'], /takes the ports 65535 to 65536, which have to be free/],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await serve(...args).ended
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})
