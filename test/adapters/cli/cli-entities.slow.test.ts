import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { apiDocuments } from 'portcullis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COLLECTIONS, ENTITY_COMMANDS } from '../../../adapters/tools/cli/commands/entities/entities.ts'
import { fieldOptions } from '../../../adapters/tools/cli/commands/entities/entity-fields.ts'
import { CONNECTION_OPTIONS } from '../../../adapters/tools/cli/connection/connect.ts'

import { runProgram } from './run-program.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
beforeAll(async () => {
  network = await servedNetwork()
})
afterAll(() => network[Symbol.asyncDispose]())

const run = (...args: readonly string[]) => runProgram(args, network.environment)
const json = async (...args: readonly string[]) => JSON.parse((await run(...args, '--json')).stdout)

describe('the commands of entities', () => {
  it('are those of the management API and webhooks, no more and no less', async () => {
    type Documented = { readonly paths: Readonly<Record<string, object>> }
    const documents = await apiDocuments('0')
    // Webhooks alone are entities of our own API; its other paths keep nothing.
    const own = Object.entries((documents.portcullis as Documented).paths).filter(([path]) =>
      /^\/webhooks\b/.test(path),
    )
    const paths = { ...(documents.management as Documented).paths, ...Object.fromEntries(own) }
    const VERBS = { list: ['', 'get'], get: ['/{id}', 'get'], create: ['', 'post'], patch: ['/{id}', 'patch'] } as const
    const places = { ...VERBS, delete: ['/{id}', 'delete'] } as const
    const served = Object.keys(paths).flatMap((path) => {
      const collection = /^\/([a-z-]+)\/\{id\}$/.exec(path)?.[1]
      if (collection === undefined || !('delete' in (paths[path] ?? {}))) return []
      const verbs = Object.entries(places).filter(
        ([, [below, method]]) => method in (paths[`/${collection}${below}`] ?? {}),
      )
      return [[collection, verbs.map(([verb]) => verb)] as const]
    })
    // Routers have a name of old and one of now.
    const { routers: _, ...expected } = Object.fromEntries(served)
    const known = Object.fromEntries(Object.entries(COLLECTIONS).map(([name, { verbs }]) => [name, verbs]))
    expect(known).toEqual(expected)
  })

  it('have no option that stands for two things, and none for a secret', async () => {
    const common = Object.keys({ ...CONNECTION_OPTIONS, body: {} })
    for (const { load } of ENTITY_COMMANDS) {
      const { options } = await load()
      expect(Object.keys(options).filter((name) => /password|secret/.test(name))).toEqual([])
    }
    for (const [collection, { verbs }] of Object.entries(COLLECTIONS)) {
      const written = (['create', 'patch'] as const).filter((verb) => verbs.includes(verb))
      const options = await Promise.all(written.map((verb) => fieldOptions(collection, verb)))
      const fields = options.flatMap((one) => Object.keys(one))
      expect(fields.filter((name) => common.includes(name))).toEqual([])
    }
  })

  it('make, show, change, list and delete, by names and options of the declarations', async () => {
    const made = await run(
      ...['identities', 'create', '--name', 'laptop', '--type', 'Device'],
      ...['--role-attributes', 'staff,berlin', '--role-attributes', 'laptops', '--tags', '{"room": 7}'],
    )
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const id = made.stdout.trim()
    expect(await json('identities', 'get', 'laptop')).toMatchObject({
      id,
      roleAttributes: ['berlin', 'laptops', 'staff'],
      tags: { room: 7 },
    })
    expect((await run('identities', 'patch', 'laptop', '--role-attributes', 'staff')).stdout).toBe('changed laptop\n')
    expect((await run('identities', 'get', id)).stdout).toMatch(/^roleAttributes +staff$/m)
    const { stdout } = await run('identities', 'list', '--filter', 'name contains "lap"')
    expect(stdout).toMatch(new RegExp(`^id +name +typeId +.*\\n${id} +laptop +Device +.*\\n1 of 1\\n$`))
    expect((await run('identities', 'get', id)).stdout).toMatch(/^authPolicy +Default$/m)
    expect((await run('identities', 'delete', 'laptop')).stdout).toBe('deleted laptop\n')
    expect(await json('identities', 'list', '--filter', 'name = "laptop"')).toEqual([])
  })

  it('take names in role lists, and pages of a list as one', async () => {
    await run('services', 'create', '--name', 'say "hi" \\ bye')
    for (const name of ['one', 'two', 'three']) await run('services', 'create', '--name', name)
    const policy = ['--semantic', 'AnyOf', '--type', 'Dial', '--identity-roles', '#all']
    await run('service-policies', 'create', '--name', 'p', ...policy, '--service-roles', '@one,@say "hi" \\ bye')
    const { serviceRoles } = await json('service-policies', 'get', 'p')
    const ids = await Promise.all(
      ['one', 'say "hi" \\ bye'].map(async (name) => (await json('services', 'get', name)).id),
    )
    expect(serviceRoles.toSorted()).toEqual(ids.map((id) => `@${id}`).toSorted())
    const named = async (...args: readonly string[]) =>
      (await json('services', 'list', '--sort', 'name', ...args)).map(({ name }: { readonly name: string }) => name)
    expect(await named('--limit', '2')).toEqual(['one', 'say "hi" \\ bye'])
    expect(await named('--offset', '2', '--limit', '9')).toEqual(['three', 'two'])
  })

  it('take the whole as JSON from a file, for what has no option', async () => {
    const { id } = await json('identities', 'create', '--body', '{"name":"clerk","type":"User","isAdmin":false}')
    await writeFile(join(network.folder, 'authenticator.json'), JSON.stringify({ password: 'a-password-of-hers' }))
    const file = `@${join(network.folder, 'authenticator.json')}`
    const given = ['--identity-id', id, '--method', 'updb', '--username', 'clerk', '--body', file]
    expect(await run('authenticators', 'create', ...given)).toMatchObject({ code: 0 })
    expect((await run('authenticators', 'list', '--filter', 'username = "clerk"')).stdout).toContain('clerk')
  })

  it('write no control characters of others to a terminal', async () => {
    await run('services', 'create', '--body', '{"name":"beep","tags":{"a":"\\u001b[2Jgone"}}')
    expect((await run('services', 'get', 'beep')).stdout).not.toContain('\u001b')
  })

  it.each<[readonly string[], number, string]>([
    [['identities', 'get', 'nobody'], 1, "identities: none has the id or name 'nobody'"],
    [['identities', 'get'], 2, 'identities get takes one NAME or ID'],
    [['services', 'create'], 2, 'say what it has: portcullis services create --help lists the fields'],
    [['services', 'create', '--nmae', 'x'], 2, "Unknown option '--nmae' (did you mean 'name'?)"],
    [['services', 'lst'], 2, "there is no command 'services lst' (did you mean 'list'?)"],
    [['servces', 'list'], 2, "there is no command 'servces' (did you mean 'services'?)"],
    [['enroll', 'box.jwt'], 2, "there is no command 'enroll' (did you mean 'router enroll' or 'tunnel enroll'?)"],
    [['rotate', 'root'], 2, "there is no command 'rotate' (did you mean 'pki rotate'?)"],
    [['list'], 2, "there is no command 'list'; portcullis --help lists the commands"],
    [['services', 'create', '--name', 'x', '--encryption-required', 'yes'], 2, 'takes true or false, not'],
    [['services', 'create', '--name', 'x', '--max-idle-time-millis', 'long'], 2, 'takes a number, not'],
    [['services', 'create', '--body', '{'], 2, '--body takes JSON'],
    [['services', 'create', '--body', '[]'], 2, '--body takes a JSON object'],
    [['services', 'create', '--terminator-strategy', 'x', '--name', 'y'], 1, 'terminatorStrategy'],
    [['services', 'list', '--filter', 'name ='], 1, '400 INVALID_FILTER'],
    [['services', 'list', '--limit', 'x'], 2, '--limit takes a whole number'],
    [['identity', 'list'], 2, "there is no command 'identity' (did you mean 'identities'?)"],
    [['policy', 'list'], 2, "there is no command 'policy' (did you mean 'service-policies', "],
    [['policies', 'list'], 2, "'service-policies'"],
    [
      [
        'service-policies',
        'create',
        '--name',
        'x',
        '--type',
        'Dial',
        '--semantic',
        'AnyOf',
        '--identity-roles',
        'staff',
      ],
      2,
      "identityRoles: 'staff' must begin with # (a role attribute) or @ (a name or id)",
    ],
    [['services', 'frobnicate'], 2, 'portcullis services list, portcullis services get'],
    [['services', 'delete', 'one', 'nothing'], 1, "none has the id or name 'nothing'"],
  ])('refuse %j', async (args, code, message) => {
    const ended = await run(...args)
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toContain(message)
    if (args[1] === 'delete') expect((await run('services', 'get', 'one')).code).toBe(0)
  })

  it('tell what may be wrong with a login that is refused', async () => {
    const wrong = { ...network.environment, PORTCULLIS_ADMIN_PASSWORD: 'another-password' }
    const message = "401 INVALID_AUTH: wrong username or password, or 'keeper' is locked"
    const asked = await runProgram(['services', 'list'], wrong)
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
    await writeFile(join(network.folder, 'wrong'), 'another-password')
    const config = {
      PORTCULLIS_CONFIG_DIR: join(network.folder, 'none'),
      PORTCULLIS_CA: join(network.folder, 'ca.pem'),
    }
    const login = await runProgram(
      ['login', network.url, '--username', 'keeper', '--password-file', join(network.folder, 'wrong')],
      config,
    )
    expect(login).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
  })

  it.each([
    [['login', 'ctrl:1280'], "login takes https://HOST:PORT, not 'ctrl:1280'"],
    [['services', 'list', '--url', 'ctrl:1280'], "--url takes https://HOST:PORT, not 'ctrl:1280'"],
  ])('%j name what took an address that is none', async (line, message) => {
    const refused = await runProgram(line, { PORTCULLIS_CONFIG_DIR: join(network.folder, 'none') })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  })

  it('tell where nobody is logged in', async () => {
    const nobody = await runProgram(['services', 'list'], { PORTCULLIS_CONFIG_DIR: join(network.folder, 'none') })
    expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('portcullis login https://HOST:PORT') })
  })
})
