import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Controller, createController } from 'portcullis'
import { memoryStorage } from 'portcullis/memory'
import { type RunningServer, serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UsageError } from '../../../adapters/tools/cli/command-line/usage.ts'
import { COMMANDS } from '../../../adapters/tools/cli/commands/index.ts'
import { openTerminal } from '../../../adapters/tools/cli/output.ts'
import { runCommandLine } from '../../../adapters/tools/cli/run-command-line.ts'

const ADMIN = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }
const NETWORK = fileURLToPath(new URL('../../../examples/quickstart/network.yaml', import.meta.url))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

let cwd: string
let service: RunningServer
let served: Controller
let controller: readonly string[]

/** Runs the program in this process: what it writes, and how it ends. File names are below the folder of the test. */
async function run(...args: string[]): Promise<Ended> {
  const stdout: string[] = []
  const stderr: string[] = []
  const terminal = openTerminal(
    {
      input: process.stdin,
      out: { isTTY: false, write: (text: string) => stdout.push(text) > 0 },
      error: { isTTY: false, write: () => true },
    },
    {},
  )
  const words = args.map((word) => (/\.(yaml|xml|pem)$/.test(word) ? join(cwd, word) : word))
  const code = await runCommandLine(COMMANDS, words, {
    environment: ADMIN,
    terminal: { ...terminal, tell: (message) => void stderr.push(message) },
  }).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error
    stderr.push(error.message)
    return 2
  })
  return { code, stdout: stdout.join(''), stderr: stderr.join('\n').replaceAll(`${cwd}/`, '') }
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-model-'))
  await mkdir(join(cwd, 'folder.yaml'))
  await cp(NETWORK, join(cwd, 'network.yaml'))
  await writeFile(
    join(cwd, 'good.yaml'),
    "assertions:\n  - { as: laptop, dial: { allow: wiki, deny: payroll } }\n  - { never: { identity: ['#servers'], bind: ['#all'] }, unless: { identity: ['#servers'] } }\n",
  )
  await writeFile(join(cwd, 'bad.yaml'), 'assertions:\n  - { as: laptop, dial: { deny: wiki } }\n')
  const admin = { username: ADMIN.PORTCULLIS_ADMIN_USERNAME, password: ADMIN.PORTCULLIS_ADMIN_PASSWORD }
  served = await createController({ storage: memoryStorage(), address: 'localhost:1280', admin })
  service = await serve(served, { host: '127.0.0.1', port: 0 })
  await writeFile(join(cwd, 'ca.pem'), served.caPem)
  controller = ['--url', `https://localhost:${service.port}`, '--ca', 'ca.pem']
})
afterAll(async () => {
  await service.close()
  await served.close()
  await rm(cwd, { recursive: true })
})

describe('portcullis test', () => {
  it('ends with 0, 3 or 2: what holds, what fails with the explanation, and what cannot be tested', async () => {
    const good = await run('test', 'network.yaml', 'good.yaml')
    expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n3 passed\n$/) })
    const bad = await run('test', 'network.yaml', 'bad.yaml', '--format', 'junit', '--output', 'result.xml')
    expect(bad).toMatchObject({ code: 3, stdout: '' })
    expect(await readFile(join(cwd, 'result.xml'), 'utf8')).toContain("'laptop' may dial 'wiki'")
    await writeFile(join(cwd, 'wrong.yaml'), 'services:\n  - { nam: wiki }\n')
    const wrong = await run('test', 'network.yaml', 'wrong.yaml')
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    // A line each, which begins with its place: editors and CI jump there.
    expect(wrong.stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^wrong\.yaml:2:7: services\[0\], nam: is unknown/),
      expect.stringMatching(/^wrong\.yaml:2:5: services\[0\], name: is required$/),
    ])
    expect(wrong.stderr).toContain("wrong.yaml:2:7: services[0], nam: is unknown (did you mean 'name'?)")
  })

  it.each([
    ['no file', [], 'test needs a model file'],
    ['a file that is not there', ['nix.yaml'], 'nix.yaml: there is no such file in '],
    ['a folder', ['folder.yaml'], 'folder.yaml: is a folder: name a file in it'],
    ['a file without assertions', ['network.yaml'], 'there are no assertions in network.yaml'],
    ['another format', ['bad.yaml', '--format', 'x'], '--format takes text, tap or junit'],
  ])('%s is told with exit code 2', async (_what, args, message) => {
    const { code, stderr } = await run('test', ...args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})

describe('portcullis plan, apply and export', () => {
  it('go round: what is planned is applied, what is exported changes nothing, what would break is refused', async () => {
    const planned = await run('plan', 'network.yaml', 'good.yaml', ...controller)
    expect(planned).toMatchObject({ code: 0, stderr: '' })
    expect(planned.stdout).toContain('19 to create, 0 to update, 0 to delete, 0 unchanged.')
    expect(planned.stdout).toContain('All 3 assertions would hold.')
    const refused = await run('apply', 'network.yaml', 'bad.yaml', ...controller)
    expect(refused).toMatchObject({ code: 3, stdout: expect.stringContaining('Nothing was changed.') })
    const applied = await run('apply', 'network.yaml', 'good.yaml', ...controller)
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nApplied\.\n$/) })
    expect(await run('export', '--output', 'exported.yaml', ...controller)).toMatchObject({ code: 0, stdout: '' })
    const again = await run('apply', 'exported.yaml', '--prune', ...controller)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to change\./) })
    const running = await run('test', 'good.yaml', ...controller, '--json')
    expect(JSON.parse(running.stdout)).toMatchObject({ passed: 3, failed: 0 })
    const occupied = await run('export', '--output', 'exported.yaml', ...controller)
    expect(occupied).toMatchObject({ code: 2, stderr: expect.stringContaining('--force replaces it') })
  })
})

describe('portcullis schema', () => {
  it('offers what files have, and takes what they have not', async () => {
    const { code, stdout } = await run('schema', 'network.yaml')
    expect(code).toBe(0)
    const { properties } = JSON.parse(stdout)
    const policy = properties.servicePolicies.items.properties
    const [offered, taken] = policy.serviceRoles.items.anyOf
    expect(offered.enum).toEqual(expect.arrayContaining([expect.stringMatching(/^@/), expect.stringMatching(/^#/)]))
    expect(taken).toEqual({ type: 'string', pattern: '^[#@].' })
    expect(properties.identities.items.properties.roleAttributes.items.anyOf[0].enum.join()).toMatch(/^[^#@]+$/)
  })
})

describe('portcullis graph', () => {
  it('draws files', async () => {
    const { code, stdout } = await run('graph', 'network.yaml', '--format', 'svg')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^<svg /)
  })
})
