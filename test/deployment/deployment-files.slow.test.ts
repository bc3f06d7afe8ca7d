import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { endAll, portcullis } from '../adapters/cli/cli-process.ts'
import { httpsClient } from '../support/https-fetch.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'

const folder = join(import.meta.dirname, '../../examples/deployment')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const wordsOf = (line: string) => line.trim().split(/\s+/)

let place = ''
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'portcullis-deployed-'))
})
afterAll(() => {
  endAll()
  rmSync(place, { recursive: true, force: true, maxRetries: 10 })
})

/** The status of an answer of a served controller, whose line told where it is. */
async function statusOf(readyLine: string, path: string): Promise<number> {
  const { fetch, close } = httpsClient({ port: Number(/ at https:\/\/[^ ]*:(\d+)/.exec(readyLine)?.[1]) })
  const { status } = await fetch(path)
  close()
  return status
}

describe('portcullis.service', () => {
  const unit = read('portcullis.service')
  const settingOf = (name: string) => new RegExp(`^${name}=-?(.*)$`, 'm').exec(unit)?.[1] ?? ''

  /** The words behind the program, with the places of the unit at places of the test. */
  function argumentsOf(name: string): readonly string[] {
    const [node, main, ...words] = wordsOf(settingOf(name))
    // The Node that the command above the unit installs: that of the system may be one without SQLite.
    expect(node).toBe('/opt/portcullis/node_modules/.bin/node')
    expect(main).toBe('/opt/portcullis/node_modules/.bin/portcullis')
    return words.map((word) => word.replace('/etc/portcullis', place))
  }

  it('checks and serves what the file of options says, and stops at SIGTERM in time', async () => {
    const options = read('portcullis.yaml').replaceAll('/var/lib/portcullis', join(place, 'state'))
    mkdirSync(join(place, 'state'))
    writeFileSync(join(place, 'portcullis.yaml'), options.replace('0.0.0.0:1280', '127.0.0.1:0'))
    const checked = await portcullis(argumentsOf('ExecStartPre'), { cwd: place }).ended
    expect(checked.stdout).toContain('ok       runtime: ')
    expect([checked.code, checked.stderr]).toEqual([0, ''])
    expect(existsSync(join(place, 'state/portcullis.sqlite'))).toBe(false)
    const served = portcullis(argumentsOf('ExecStart'), { cwd: place })
    const line = await served.ready
    expect(await statusOf(line, '/readyz')).toBe(200)
    const asked = performance.now()
    served.kill('SIGTERM')
    expect((await served.ended).code).toBe(0)
    expect(performance.now() - asked).toBeLessThan(Number(settingOf('TimeoutStopSec')) * 1000)
    expect(existsSync(join(place, 'state/events.jsonl'))).toBe(true)
  })

  it.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)(
    'is a unit that systemd takes, and keeps in',
    () => {
      const analyze = (...words: readonly string[]) =>
        spawnSync('systemd-analyze', [...words, join(folder, 'portcullis.service')], { encoding: 'utf8' })
      // It names what lies at its place after an installation: nothing else may be wrong.
      const wrong = analyze('verify').stderr.split('\n')
      expect(wrong.filter((line) => line !== '' && !line.includes('/opt/portcullis/node_modules'))).toEqual([])
      expect(analyze('security', '--offline=true', '--no-pager').stdout).toMatch(/exposure level for .*: 1\.3 OK/)
    },
  )
})

describe('kubernetes.yaml', () => {
  const commands = read('kubernetes.yaml')
    .split('\n')
    .filter((line) => line.startsWith('#   '))
    .map((line) => line.slice(4).replace(/ # .*$/, ''))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map(wordsOf)
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS())
  const { spec } = documents[0].spec.template
  const [container] = spec.containers
  let database: PostgresServer | undefined
  beforeAll(async () => {
    database = await startPostgres()
  }, 120_000)
  afterAll(() => database?.stop())

  /** The environment of the container, with the values of the secret that the commands make. */
  function environment(): Record<string, string> {
    const secret = new Map(
      commands.flat().flatMap((word) => {
        const [, name, value = ''] = /^--from-literal=([a-z]+)=(.*)$/.exec(word) ?? []
        return name === undefined ? [] : [[name, value] as const]
      }),
    )
    expect(secret.get('storage')).toMatch(/^postgres:\/\//)
    secret.set('storage', database?.url ?? '').set('password', 'of the test alone')
    return Object.fromEntries(
      container.env.map(({ name, value, valueFrom }: (typeof container.env)[number]) => [
        name,
        value ?? secret.get(valueFrom.secretKeyRef.key),
      ]),
    )
  }

  it('is begun by commands that there are, and its replicas are ready, then stop in time', async () => {
    const [first = [], ...others] = commands
    expect(first[0]).toBe('portcullis')
    expect((await portcullis(first.slice(1), { cwd: place }).ended).stderr).toBe('')
    for (const words of others) {
      expect(words.slice(0, 4)).toEqual(['kubectl', 'create', 'secret', 'generic'])
    }
    // As the secret shows it: for the owner and its group alone, and nobody writes.
    const pki = join(place, 'mounted')
    cpSync(join(place, 'pki'), pki, { recursive: true })
    rmSync(join(pki, 'ca.key'))
    for (const name of ['ca.pem', 'signing.pem', 'signing.key', 'server.pem', 'server.key']) {
      chmodSync(join(pki, name), 0o440)
    }
    const words = container.args.map((word: string) =>
      word === '/pki' ? pki : word.replace('0.0.0.0:1280', '127.0.0.1:0'),
    )
    expect(words).toContain(pki)
    const start = () => portcullis(words, { cwd: place, variables: environment() })
    const replicas = [start()]
    await replicas[0]?.ready
    replicas.push(start())
    for (const replica of replicas) {
      const line = await replica.ready
      expect(line).toContain('storage postgres')
      expect(await statusOf(line, container.startupProbe.httpGet.path)).toBe(200)
      expect(await statusOf(line, container.livenessProbe.httpGet.path)).toBe(200)
      await expect.poll(() => statusOf(line, container.readinessProbe.httpGet.path), { timeout: 20_000 }).toBe(200)
      expect(replica.stderrSoFar()).not.toContain('warning')
    }
    const asked = performance.now()
    const [, pause] = container.lifecycle.preStop.exec.command
    for (const replica of replicas) replica.kill('SIGTERM')
    for (const replica of replicas) expect((await replica.ended).code).toBe(0)
    const leftMs = (spec.terminationGracePeriodSeconds - Number(pause)) * 1000
    expect(performance.now() - asked).toBeLessThan(leftMs)
  }, 120_000)
})

describe('a start that fails', () => {
  it.each([
    ['a port that is taken', ['--listen', '127.0.0.1:TAKEN']],
    ['a certificate that is absent', ['--named-cert', 'absent.pem', '--named-key', 'absent.key']],
    ['an option that the controller refuses', ['--redirect-uri', 'foo']],
  ])('for %s makes no database', async (_reason, words) => {
    const cwd = mkdtempSync(join(place, 'failed-'))
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const listen = words.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']
    const given = words.map((word) => word.replace('TAKEN', String(port)))
    const args = ['serve', '--storage', 'sqlite:x.sqlite', '--pki', 'pki', ...listen, ...given]
    const { code } = await portcullis(args, { cwd }).ended
    taken.close()
    expect(code).toBe(2)
    expect(existsSync(join(cwd, 'x.sqlite'))).toBe(false)
  })

  it('of init makes none, so that the next try succeeds', async () => {
    const cwd = mkdtempSync(join(place, 'init-'))
    const init = (...words: readonly string[]) =>
      portcullis(['init', '--password-stdin', ...words], { cwd, input: 'a word of the test\n' }).ended
    expect((await init('--username', 'ab')).stderr).toContain('--username must have 4 to 100 characters')
    expect((await init()).code).toBe(0)
  })
})

describe('serve --check', () => {
  it('says what the runtime cannot do', async () => {
    const check = (variables: Record<string, string>, storage: string) =>
      portcullis(['serve', '--check', '--storage', storage, '--pki', 'none'], { cwd: place, variables }).ended
    const without = { NODE_OPTIONS: '--no-experimental-sqlite' }
    const refused = await check(without, 'sqlite:x.sqlite')
    expect(refused.stdout).toMatch(/wrong {4}runtime: .*needs Node 22\.13 or later, this is v/)
    expect(refused.code).toBe(3)
    expect(await check(without, 'memory')).toMatchObject({ code: 0 })
  })

  it('says that the system allows fewer descriptors than connections need', async () => {
    const words = ['serve', '--check', '--storage', 'memory', '--pki', 'none', '--limits', 'connections=10000000']
    const { code, stdout } = await portcullis(words, { cwd: place }).ended
    expect(stdout).toMatch(/warning {2}runtime: the system lets this process open \d+ descriptors, and 10000000 /)
    expect(code).toBe(3)
  })
})
