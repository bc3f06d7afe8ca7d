import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { enrollDevice } from '../../examples/traffic/enroll.ts'
import { logIn } from '../../examples/traffic/network.ts'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZiti, ZitiProcesses } from '../../examples/traffic/ziti.ts'

const ziti = findZiti()
const ADMIN = { username: 'admin', password: 'admin-of-the-router' }
const MIB = 1024 * 1024
/** Options of tunnelers that leave windows to routers; without them they keep windows themselves and open three sockets. */
const PLAIN = ['--sdk-flow-control=false', '--default-connections', '1', '--control-connections', '0']

/** A file as the web server has it, and what became of it on the way. */
interface Carried {
  readonly bytes: number
  readonly digest: string
}

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A gigabyte in pieces that all differ, and the digest of what was taken of it. */
function gigabyte() {
  const [hash, piece] = [createHash('sha256'), randomBytes(MIB)]
  const bytes = Readable.from(
    (function* () {
      for (let number = 0; number < 1024; number += 1) {
        piece.writeUInt32BE(number)
        hash.update(piece)
        yield Buffer.from(piece)
      }
    })(),
    { objectMode: false },
  )
  return { bytes, digest: () => hash.digest('hex') }
}

function exchange(port: number, path: string, upload?: Uint8Array): Promise<Carried & { readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = upload === undefined ? {} : { 'content-length': upload.length }
    const method = upload === undefined ? 'GET' : 'POST'
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (response) => {
      const hash = createHash('sha256')
      const first: Uint8Array[] = []
      let bytes = 0
      try {
        for await (const chunk of response) {
          hash.update(chunk)
          if (bytes < 100) first.push(chunk)
          bytes += chunk.length
        }
        resolve({ bytes, digest: hash.digest('hex'), text: Buffer.concat(first).toString().slice(0, 100) })
      } catch (error) {
        reject(error)
      }
    })
    sent.setTimeout(30_000, () => sent.destroy(new Error('nothing came for 30 s')))
    sent.once('error', reject).end(upload)
  })
}

if (ziti === undefined) {
  console.warn('SKIPPED: no tunneler was tried, because there is no `ziti` on the path and ZITI names none')
}

describe.skipIf(ziti === undefined)('unmodified tunnelers at the edge router of a controller', () => {
  const files = new Map([1, MIB, 100 * MIB].map((size) => [`/${size}`, randomBytes(size)]))
  const web = createServer(async (incoming, answer) => {
    if (incoming.url === '/gigabyte' && incoming.method === 'GET') {
      sent = gigabyte()
      return void pipeline(sent.bytes, answer).catch(() => undefined)
    }
    if (incoming.method === 'GET') return answer.end(files.get(incoming.url ?? '') ?? 'nothing')
    const hash = createHash('sha256')
    for await (const chunk of incoming) hash.update(chunk)
    return answer.end(hash.digest('hex'))
  })
  let sent = gigabyte()
  let folder = ''
  let close = async () => {}
  let processes: ZitiProcesses
  let circuits = async () => 0
  /** The ports of the proxies by the name of their service and how the tunnelers at its ends are run. */
  const ports = new Map<string, number>()

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portcullis-own-router-'))
    web.listen(0, '127.0.0.1')
    await once(web, 'listening')
    const [port = 0, ...proxies] = await freePorts(5)
    const controller = await createController({
      storage: memoryStorage(),
      address: `127.0.0.1:${port}`,
      admin: ADMIN,
      rateLimits: false,
    })
    const server = await serve(controller, { port, fabric: true, router: true })
    const admin = await logIn(controller, ADMIN)
    circuits = async () => Object.values(await admin.call('GET', '/fabric/v1/circuits')).length
    const types = Object.values(await admin.call('GET', '/config-types?filter=name=%22host.v1%22')) as { id: string }[]
    const address = web.address()
    const webPort = typeof address === 'object' && address !== null ? address.port : 0
    const data = { protocol: 'tcp', address: '127.0.0.1', port: webPort }
    const config = await admin.create('/configs', { name: 'web', configTypeId: types[0]?.id, data })
    const roles = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
    await admin.create('/edge-router-policies', { name: 'all', ...roles, identityRoles: ['#all'] })
    await admin.create('/service-edge-router-policies', { name: 'all', ...roles, serviceRoles: ['#all'] })
    processes = new ZitiProcesses(ziti ?? '')
    for (const [kind, options] of [
      ['windows of routers', PLAIN],
      ['windows of their own', []],
    ] as const) {
      const role = kind.replaceAll(' ', '-')
      for (const [name, encryptionRequired] of [
        [`${role}-encrypted`, true],
        [`${role}-plain`, false],
      ] as const) {
        await admin.create('/services', { name, encryptionRequired, configs: [config], roleAttributes: [role] })
        ports.set(name, proxies.shift() ?? 0)
      }
      for (const [type, who] of [
        ['Bind', 'host'],
        ['Dial', 'client'],
      ] as const) {
        const identityRoles = [`#${role}-${who}`]
        const policy = { name: `${kind} ${type}`, type, semantic: 'AnyOf', serviceRoles: [`#${role}`], identityRoles }
        await admin.create('/service-policies', policy)
        const device = { name: `${role}-${who}`, role: `${role}-${who}`, files: join(folder, `${role}-${who}`) }
        await enrollDevice(admin, ziti ?? '', device)
      }
      const at = (who: string) => join(folder, `${role}-${who}`)
      processes.start(`${at('host')}.log`, ['tunnel', 'host', '-i', `${at('host')}.json`, ...options])
      const proxied = [...ports].filter(([name]) => name.startsWith(role)).map(([name, at]) => `${name}:${at}`)
      processes.start(`${at('client')}.log`, ['tunnel', 'proxy', '-i', `${at('client')}.json`, ...proxied, ...options])
    }
    close = async () => {
      await processes.stop()
      await server.close({ graceMs: 0 })
      await controller.close()
    }
    for (const proxy of ports.values()) {
      await vi.waitFor(() => exchange(proxy, '/1'), { timeout: 60_000, interval: 300 })
    }
  }, 120_000)

  afterAll(async () => {
    await close()
    web.close()
    await rm(folder, { recursive: true })
  })

  describe.each([
    'windows-of-routers-encrypted',
    'windows-of-routers-plain',
    'windows-of-their-own-encrypted',
    'windows-of-their-own-plain',
  ])('with %s', (name) => {
    it('carry files of one byte, 1 MiB and 100 MiB down and up as they are', async () => {
      const port = ports.get(name) ?? 0
      for (const [path, bytes] of files) {
        const begun = performance.now()
        expect(await exchange(port, path)).toMatchObject({ bytes: bytes.length, digest: sha(bytes) })
        expect((await exchange(port, '/up', bytes)).text).toBe(sha(bytes))
        const seconds = (performance.now() - begun) / 1000
        console.log(`${name}: ${bytes.length} bytes down and up in ${seconds.toFixed(2)} s`)
      }
    }, 120_000)

    it('carry 20 and 100 connections at once', async () => {
      const port = ports.get(name) ?? 0
      for (const count of [20, 100]) {
        const all = await Promise.all(Array.from({ length: count }, () => exchange(port, '/1')))
        expect(all.filter(({ bytes }) => bytes === 1)).toHaveLength(count)
      }
    }, 60_000)
  })

  it.each(['windows-of-routers-encrypted', 'windows-of-their-own-encrypted'])(
    'carry a gigabyte down and up as it is, with %s',
    async (name) => {
      const port = ports.get(name) ?? 0
      const begun = performance.now()
      const down = await exchange(port, '/gigabyte')
      expect(down).toMatchObject({ bytes: 1024 * MIB, digest: sent.digest() })
      const middle = performance.now()
      const up = gigabyte()
      const response = await fetch(`http://127.0.0.1:${port}/up`, { method: 'POST', body: up.bytes, duplex: 'half' })
      expect(await response.text()).toBe(up.digest())
      const seconds = [middle - begun, performance.now() - middle].map((ms) => (ms / 1000).toFixed(1))
      console.log(`${name}: a gigabyte down in ${seconds[0]} s, digest ${down.digest}; up in ${seconds[1]} s`)
    },
    600_000,
  )

  // A tunneler looks at its machine before each dial, one dial after the other, and gives each 5 s: two of them share the load.
  it('carry 200 connections at once', async () => {
    const all = await Promise.all(
      [...ports.values()].flatMap((port) => Array.from({ length: 50 }, () => exchange(port, '/1'))),
    )
    expect(all.filter(({ bytes }) => bytes === 1)).toHaveLength(200)
  }, 60_000)

  it('leave no circuit behind', async () => {
    await expect.poll(circuits, { timeout: 30_000 }).toBe(0)
  }, 40_000)
})
