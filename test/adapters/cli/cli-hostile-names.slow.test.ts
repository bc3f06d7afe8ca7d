import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createController, SYSTEM_CALL } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { applyModel, modelText, readModel, readNetwork } from 'portcullis/model'
import { openPkiDirectory, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COLLECTIONS } from '../../../adapters/tools/cli/commands/entities/entities.ts'
import { openTerminal } from '../../../adapters/tools/cli/output.ts'
import { runProgram } from './run-program.ts'

const ADMIN = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
/** Clears the screen, rings, goes back to the begin of the line, reverses what follows, and begins a line of its own. */
const HOSTILE =
  'x\u001b[2J\u001b]0;t\u0007\r\u009b31m\u202e\u2066\u200f\u2028\u200b\ufeff\u{e0041}y\n+ identities faked'
/** Characters that never reach a terminal. */
const HIDDEN = /[^\P{Cc}\n\t]|[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\u{e0041}]/u

let cwd: string
let remote: readonly string[]
let storage: readonly string[]
let end: () => Promise<void>

/** A network in which everything that takes a free name has a hostile one. */
function network(prefix: string) {
  const name = (what: string) => `${prefix} ${what} ${HOSTILE}`
  return JSON.stringify({
    configTypes: [{ name: name('type'), schema: {} }],
    configs: [{ name: name('config'), configTypeId: name('type'), data: { a: HOSTILE } }],
    postureChecks: [{ name: name('check'), typeId: 'DOMAIN', domains: ['corp'], tags: { [HOSTILE]: HOSTILE } }],
    services: [{ name: name('service'), roleAttributes: ['s'], configs: [name('config')] }],
    identities: [
      { name: name('identity'), type: 'User', isAdmin: false, externalId: name('external'), roleAttributes: ['i'] },
    ],
    edgeRouters: [{ name: name('router'), appData: { a: HOSTILE } }],
    servicePolicies: [
      { name: name('policy'), type: 'Dial', semantic: 'AnyOf', identityRoles: ['#i'], serviceRoles: ['#s'] },
      {
        name: name('empty'),
        type: 'Dial',
        semantic: 'AnyOf',
        identityRoles: [`@${name('identity')}`],
        serviceRoles: [],
      },
    ],
    assertions: [{ as: name('identity'), dial: { allow: [name('service')], deny: [name('service')] } }],
  })
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-hostile-'))
  const file = `sqlite:${join(cwd, 'network.sqlite')}`
  const pki = join(cwd, 'pki')
  const admin = { username: ADMIN.PORTCULLIS_ADMIN_USERNAME, password: ADMIN.PORTCULLIS_ADMIN_PASSWORD }
  const controller = await createController({
    storage: await sqliteStorage(join(cwd, 'network.sqlite')),
    address: 'localhost:1280',
    pki: openPkiDirectory(pki, { hosts: ['localhost'] }),
    admin,
  })
  const server = await serve(controller, { host: '127.0.0.1', port: 0 })
  await writeFile(join(cwd, 'ca.pem'), controller.caPem)
  await writeFile(join(cwd, 'there.json'), network('there'))
  await writeFile(join(cwd, 'new.json'), network('new'))
  const url = `https://localhost:${server.port}`
  remote = ['--url', url, '--ca', join(cwd, 'ca.pem')]
  storage = ['--storage', file, '--pki', pki]
  const made = await runProgram(['apply', join(cwd, 'there.json'), ...remote], ADMIN)
  // The assertion that the same access is there and is not fails in any case.
  expect(made).toMatchObject({ code: 3 })
  const { assertions, ...there } = JSON.parse(network('there'))
  await writeFile(join(cwd, 'there.json'), JSON.stringify(there))
  expect(await runProgram(['apply', join(cwd, 'there.json'), ...remote], ADMIN)).toMatchObject({ code: 0 })
  end = async () => {
    await server.close()
    await controller.close()
    await rm(cwd, { recursive: true })
  }
})
afterAll(() => end())

const file = (name: string) => join(cwd, name)

/** Every command that shows entities, with what it is asked. */
const COMMANDS: readonly (readonly [string, () => readonly string[]])[] = [
  ...Object.keys(COLLECTIONS).flatMap((collection) => [
    [`${collection} list`, () => [collection, 'list', ...remote]] as const,
    [`${collection} list --json`, () => [collection, 'list', '--json', ...remote]] as const,
  ]),
  ['services get', () => ['services', 'get', `there service ${HOSTILE}`, ...remote]],
  ['services get of what is not there', () => ['services', 'get', HOSTILE, ...remote]],
  ['plan', () => ['plan', file('new.json'), ...remote]],
  ['plan --prune', () => ['plan', file('new.json'), '--prune', ...remote]],
  ['plan --json', () => ['plan', file('new.json'), '--json', ...remote]],
  ['apply', () => ['apply', file('new.json'), ...remote]],
  ['test', () => ['test', file('new.json')]],
  ['test --format tap', () => ['test', file('new.json'), '--format', 'tap']],
  ['test --format junit', () => ['test', file('new.json'), '--format', 'junit']],
  ['export', () => ['export', ...remote]],
  ['export --format json', () => ['export', '--format', 'json', ...remote]],
  ['graph', () => ['graph', ...remote]],
  ['graph --format dot', () => ['graph', '--format', 'dot', ...remote]],
  ['graph --format svg', () => ['graph', '--format', 'svg', ...remote]],
  ['explain', () => ['explain', `there identity ${HOSTILE}`, 'dial', `there service ${HOSTILE}`, ...remote]],
  ['explain of nobody', () => ['explain', HOSTILE, 'dial', HOSTILE, ...remote]],
  ['doctor', () => ['doctor', ...storage]],
  ['doctor --json', () => ['doctor', '--json', ...storage]],
  ['import', () => ['import', '--from', remote[1] ?? '', '--from-ca', file('ca.pem'), ...storage, '--dry-run']],
]

describe('names that hold control characters and reverse their line', () => {
  it.each(COMMANDS)('are shown written out, in their own line, by %s', async (_what, args) => {
    const { stdout, code } = await runProgram(args(), ADMIN)
    expect([0, 1, 2, 3]).toContain(code)
    expect(stdout.match(HIDDEN)?.index).toBeUndefined()
    expect(stdout).not.toMatch(/^\+ identities faked/m)
  })

  it('are told apart from what the program colours itself', () => {
    const written: string[] = []
    const out = { isTTY: true, write: (text: string) => written.push(text) > 0 }
    const terminal = openTerminal({ input: process.stdin, out, error: { isTTY: true, write: () => true } }, {})
    terminal.print(`${terminal.style('red', 'FAIL')} \u001b[8mhidden\u001b[0m ${terminal.style('bold', 'a\u001b[2J')}`)
    expect(written).toEqual(['\u001b[31mFAIL\u001b[39m \\u001b[8mhidden\\u001b[0m \u001b[1ma\\u001b[2J\u001b[22m\n'])
  })

  it('mean themselves in a file that was exported, as YAML and as JSON', async () => {
    const controller = await createController({
      storage: (await import('portcullis/memory')).memoryStorage(),
      address: 'localhost:1280',
    })
    const { id } = await controller.engine.identities.create(SYSTEM_CALL, { name: 'a', type: 'User', isAdmin: true })
    const { token } = await controller.engine.host.startSession(id)
    const admin = { baseUrl: 'https://localhost', fetch: (request: Request) => controller.fetch(request), token }
    const { assertions, ...model } = JSON.parse(network('kept'))
    await applyModel(admin, await readModel({ name: 'a.json', text: JSON.stringify(model) }))
    const before = await readNetwork(admin)
    for (const format of ['yaml', 'json'] as const) {
      const text = await modelText(before, format)
      expect(text.match(HIDDEN)?.index).toBeUndefined()
      const again = await readModel({ name: `a.${format}`, text })
      expect(JSON.stringify(again)).toContain(JSON.stringify(`kept service ${HOSTILE}`).slice(1, -1))
    }
    await controller.close()
  })

  it('leave what is written to a file as it is, but for what it shows', async () => {
    await runProgram(['export', ...remote, '--output', file('out.yaml')], ADMIN)
    expect((await readFile(file('out.yaml'), 'utf8')).match(HIDDEN)?.index).toBeUndefined()
  })
})
