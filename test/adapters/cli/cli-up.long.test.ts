import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createController } from 'portcullis'
import { sqliteStorage } from 'portcullis/kysely'
import { readModel, testModel } from 'portcullis/model'
import { openPkiDirectory } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/linked-network.ts'
import { endAll, portcullis } from './cli-process.ts'

let folder: string
let here: string
let there: string
let at: string
const apps = new Map<string, { readonly server: Server; readonly address: string }>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-up-'))
  here = join(folder, 'here')
  there = join(folder, 'there')
  await Promise.all([mkdir(here), mkdir(there)])
  at = `localhost:${await freePort()}`
  for (const name of ['payroll', 'wiki']) {
    const server = createServer((_request, response) => response.end(`this is ${name}`)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    apps.set(name, { server, address: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}` })
  }
})
afterAll(async () => {
  endAll()
  for (const { server } of apps.values()) server.close()
  await rm(folder, { recursive: true, maxRetries: 10 })
})

const operand = (name: string) => `${name}=${apps.get(name)?.address}`

/** Brings the network up with these arguments, and resolves with what is printed once it is up. */
async function up(...args: readonly string[]) {
  const command = portcullis(['up', ...args, '--at', at], { cwd: here })
  await Promise.race([until(async () => command.stdoutSoFar().includes(`up at https://${at}`), true), command.ended])
  const end = async () => {
    command.kill('SIGTERM')
    return command.ended
  }
  return { text: command.stdoutSoFar(), invitations: command.stdoutSoFar().match(/^eyJ\S+$/gm) ?? [], end }
}

const HOSTED = { protocol: 'tcp', address: '127.0.0.1', port: 9 }
const DIAL = { type: 'Dial', semantic: 'AnyOf' } as const

/** Opens services on the other machine by the line that `up` printed, at other ports; resolves with their answers. */
async function opened(text: string, name: string, invitation?: string) {
  const [line = ''] = new RegExp(`tunnel proxy --identity ${name}.json .*`).exec(text) ?? []
  const words = await Promise.all(line.split(' ').map(async (word) => word.replace(/:\d+$/, `:${await freePort()}`)))
  const token = invitation === undefined ? [] : ['--token', '-']
  const input = invitation === undefined ? {} : { input: invitation }
  const proxy = portcullis([...words, ...token], { cwd: there, ...input })
  const urls = words.filter((word) => /:\d+$/.test(word)).map((word) => `http://127.0.0.1:${word.split(':')[1]}/`)
  await until(async () => proxy.stdoutSoFar().split('\n').length > urls.length, true)
  const answers = await Promise.all(urls.map(async (url) => (await fetch(url)).text()))
  proxy.kill('SIGTERM')
  await proxy.ended
  return answers
}

describe('portcullis up', () => {
  it('serves an app to another machine by one invitation, and the same again adds to it', {
    timeout: 120_000,
  }, async () => {
    const first = await up(operand('payroll'), '--for', 'laptop', '--for', 'laptop', '--save', 'net.yaml')
    expect(first.text).toContain(`payroll is answered by ${apps.get('payroll')?.address}`)
    expect(first.invitations).toHaveLength(1)
    expect(await opened(first.text, 'laptop', first.invitations[0])).toEqual(['this is payroll'])
    expect((await first.end()).code).toBe(0)

    const again = await up(operand('wiki'), '--for', 'laptop', '--for', 'phone')
    expect(again.text).toContain('laptop has enrolled')
    expect(again.invitations).toHaveLength(1)
    expect(await opened(again.text, 'laptop')).toEqual(['this is payroll', 'this is wiki'])
    // Only the service of its own command is for the phone.
    expect(await opened(again.text, 'phone', again.invitations[0])).toEqual(['this is wiki'])
    await again.end()

    const bare = await up()
    expect(bare.text.match(/is answered by/g)).toHaveLength(2)
    await bare.end()
  })

  it('writes what it made as a model, whose assertions can be tried', async () => {
    const text = await readFile(join(here, 'net.yaml'), 'utf8')
    const asked = `${text}assertions:\n  - { as: laptop, dial: { allow: payroll } }\n  - { as: host, bind: { allow: payroll } }\n`
    const model = await readModel({ name: 'net.yaml', text: asked })
    expect(model.entities.filter(({ key }) => key.endsWith('outerPolicies')).map(({ name }) => name)).toEqual([
      'all',
      'all',
    ])
    expect(await testModel(model)).toMatchObject({ failed: 0, passed: 2 })
  })

  it.each([
    [['payroll=127.0.0.1'], 'payroll=127.0.0.1 takes HOST:PORT with a port from 1 to 65535'],
    [['payroll'], "up takes SERVICE=HOST:PORT, such as payroll=127.0.0.1:3000: not 'payroll'"],
    [['pay roll=127.0.0.1:3000'], 'pay roll=127.0.0.1:3000: a name has letters'],
    [['payroll=127.0.0.1:3000', '--for', '#staff'], '--for: a name has letters'],
    [['--folder', 'nothing'], 'up takes services and their addresses'],
    [['payroll=127.0.0.1:3000', '--folder', '..'], "--folder: '..' holds other files and no network"],
    [['payroll=127.0.0.1:3000', '--at', 'elsewhere.example:1280'], "--at: the network in '.portcullis' is for"],
    [['payroll=127.0.0.1:3000', '--save', 'net.txt'], '--save takes a file that ends in'],
    [['payroll=127.0.0.1:3000', '--save', 'net.yaml'], 'net.yaml is there already'],
    [['payroll=127.0.0.1:1', 'payroll=127.0.0.1:2'], "'payroll' by one address: it is there twice"],
    [['payroll=127.0.0.1:1', '--for', 'host'], "--for: 'host' is the identity by which up hosts its services"],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await portcullis(['up', ...args], { cwd: here }).ended
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it('prints no line that has a shell run what a caller of the network named a service', async () => {
    const name = 'a;touch stolen;'
    const controller = await createController({
      storage: await sqliteStorage(join(here, '.portcullis/portcullis.sqlite')),
      address: at,
      pki: openPkiDirectory(join(here, '.portcullis/pki')),
      model: {
        configs: [{ name: `${name} host`, configTypeId: 'host.v1', data: HOSTED }],
        services: [{ name, roleAttributes: ['up'], configs: [`${name} host`] }],
        servicePolicies: [{ name: `${name} dial`, ...DIAL, identityRoles: ['@laptop'], serviceRoles: [`@${name}`] }],
      },
    })
    await controller.close()
    const again = await up(operand('payroll'), '--for', 'laptop')
    expect(again.text).toMatch(/--identity laptop.json .*payroll:/)
    expect(again.text).not.toContain('touch')
    await again.end()
  })

  it('refuses a port in use, and a service of the network that it did not make', async () => {
    const taken = apps.get('wiki')?.address.replace('127.0.0.1', 'localhost') ?? ''
    const inUse = await portcullis(['up', operand('payroll'), '--at', taken], { cwd: here }).ended
    expect(inUse.stderr).toMatch(/--at localhost:\d+.*in use/)
    expect(inUse.code).toBe(2)
    const controller = await createController({
      storage: await sqliteStorage(join(here, '.portcullis/portcullis.sqlite')),
      address: at,
      pki: openPkiDirectory(join(here, '.portcullis/pki')),
      model: { services: [{ name: 'own' }] },
    })
    await controller.close()
    const foreign = await portcullis(['up', 'own=127.0.0.1:3000', '--at', at], { cwd: here }).ended
    expect(foreign.stderr).toContain("'own': the network has a service of that name that up did not make")
    expect(foreign.code).toBe(2)
  })
})
