import { execFileSync, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { enroll, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZiti } from '../../examples/traffic/ziti.ts'

const ziti = findZiti()

if (ziti === undefined) {
  console.warn('SKIPPED: no deployed controller was tried, because there is no `ziti` on the path and ZITI names none')
}

let folder: string
let network: ReturnType<typeof spawn> | undefined
const file = (name: string) => join(folder, name)

/** Runs the program in a home of its own. Throws when it fails. */
function run(...args: readonly string[]): string {
  const env = { ...process.env, HOME: folder, ZITI_CONFIG_DIR: folder, ZITI_HOME: folder }
  return execFileSync(ziti ?? '', args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 }).toString()
}

/** Runs it again until it goes well. */
async function eventually(...args: readonly string[]): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      run(...args)
      return
    } catch (error) {
      if (tries > 60) throw error
      await sleep(1000)
    }
  }
}

beforeAll(async () => {
  if (ziti === undefined) return
  folder = await mkdtemp(join(tmpdir(), 'portcullis-deployed-'))
  const [port = 0, routerPort = 0] = await freePorts(2)
  const log = openSync(file('quickstart.log'), 'a')
  const at = ['--ctrl-address', '127.0.0.1', '--router-address', '127.0.0.1']
  const ports = ['--ctrl-port', String(port), '--router-port', String(routerPort)]
  const env = { ...process.env, HOME: folder, ZITI_CONFIG_DIR: folder, ZITI_HOME: folder }
  const args = ['edge', 'quickstart', '--home', file('home'), ...at, ...ports]
  network = spawn(ziti, args, { env, stdio: ['ignore', log, log] })
  await eventually('edge', 'login', `https://127.0.0.1:${port}`, '-u', 'admin', '-p', 'admin', '-y')
  for (const [name, role] of [
    ['laptop', 'clients'],
    ['box', 'hosts'],
  ] as const) {
    run('edge', 'create', 'identity', name, '-a', role, '-o', file(`${name}.jwt`))
    await writeFile(file(`${name}.json`), JSON.stringify(await enroll(readFileSync(file(`${name}.jwt`), 'utf8'))))
  }
  for (const [name, encryption] of [
    ['app', 'ON'],
    ['plain', 'OFF'],
  ] as const) {
    run('edge', 'create', 'service', name, '-a', 'web', '--encryption', encryption)
  }
  for (const [type, role] of [
    ['Dial', '#clients'],
    ['Bind', '#hosts'],
  ] as const) {
    run('edge', 'create', 'service-policy', type, type, '--service-roles', '#web', '--identity-roles', role)
  }
  const all = ['--edge-router-roles', '#all']
  run('edge', 'create', 'edge-router-policy', 'everybody', ...all, '--identity-roles', '#all')
  run('edge', 'create', 'service-edge-router-policy', 'everything', ...all, '--service-roles', '#all')
  for (let tries = 0; tries < 60; tries += 1) {
    if (/"isOnline":\s*true/.test(run('edge', 'list', 'edge-routers', '-j'))) return
    await sleep(1000)
  }
  throw new Error(`no router came online: see ${file('quickstart.log')}`)
}, 180_000)

afterAll(async () => {
  network?.kill('SIGKILL')
  if (ziti !== undefined) await rm(folder, { recursive: true, force: true })
})

describe.skipIf(ziti === undefined)('the SDK with a deployed controller and its router', () => {
  it.each(['api-session', 'bearer', 'auto'] as const)(
    'enrolls, dials and hosts, encrypted and not: %s',
    async (sessions) => {
      await using laptop = await openIdentity(file('laptop.json'), { sessions })
      await using box = await openIdentity(file('box.json'), { sessions })
      for (const service of ['app', 'plain']) {
        await using _hosted = await box.host(service, async (connection: ServiceConnection) => {
          connection.end(`${connection.caller?.claimedName} sent ${(await text(connection)).length}`)
        })
        const connection = await laptop.dial(service)
        expect(connection.isEncrypted).toBe(service === 'app')
        connection.end('x'.repeat(1_000_000))
        expect(await text(connection)).toBe('laptop sent 1000000')
      }
      await expect(laptop.dial('nothing')).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' })
    },
    60_000,
  )
})
