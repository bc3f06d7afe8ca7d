import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from 'portcullis/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newKey, signingRequest } from '../../contract/http/signing-request.ts'
import { runProgram } from './run-program.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
beforeAll(async () => {
  network = await servedNetwork()
})
afterAll(() => network[Symbol.asyncDispose]())

const run = (...args: readonly string[]) => runProgram(['invite', ...args], network.environment)
const json = async (...args: readonly string[]) =>
  JSON.parse((await runProgram([...args, '--json'], network.environment)).stdout)

async function enroll(jwt: string): Promise<void> {
  const { jti } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  const csr = signingRequest(newKey())
  const client = createClient({ baseUrl: 'https://localhost', fetch: (request) => network.controller.fetch(request) })
  await client.call('POST /enroll/ott', { body: { token: jti, clientCsr: csr } })
}

describe('portcullis invite', () => {
  it('makes an identity with its attributes and writes its token for its owner alone', async () => {
    const out = join(network.folder, 'laptop.jwt')
    const { code, stdout, stderr } = await run('laptop', '--attributes', 'staff, #sales', '--out', out)
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('laptop may enroll until ')
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    const [identity] = await json('identities', 'list', '--filter', 'name = "laptop"')
    expect(identity).toMatchObject({ roleAttributes: ['sales', 'staff'], isAdmin: false, typeId: 'Device' })
    expect(await readFile(out, 'utf8')).toBe(identity.enrollment.ott.jwt)
  })

  it('gives the same token out again while it is good, and adds attributes', async () => {
    const { stdout } = await run('laptop', '--attributes', 'remote')
    expect(stdout.trim()).toBe(await readFile(join(network.folder, 'laptop.jwt'), 'utf8'))
    const [identity] = await json('identities', 'list', '--filter', 'name = "laptop"')
    expect(identity.roleAttributes).toEqual(['remote', 'sales', 'staff'])
  })

  it('writes over no file, and leaves alone who has enrolled', async () => {
    const again = await run('laptop', '--out', join(network.folder, 'laptop.jwt'))
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('--force replaces it')])
    await enroll(await readFile(join(network.folder, 'laptop.jwt'), 'utf8'))
    const { code, stderr } = await run('laptop')
    expect([code, stderr]).toEqual([2, expect.stringContaining('laptop has enrolled already')])
    const invited = await run('laptop', '--again')
    expect(invited.code).toBe(0)
    await enroll(invited.stdout.trim())
  })

  it('invites again whose enrollment was deleted', async () => {
    await run('tablet')
    const [{ id }] = await json('enrollments', 'list', '--filter', 'method = "ott"')
    await runProgram(['enrollments', 'delete', id], network.environment)
    const { code, stdout } = await run('tablet')
    expect(code).toBe(0)
    await enroll(stdout.trim())
  })

  it('shows a code for the camera of a phone', async () => {
    const { stdout } = await run('phone', '--qr')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(30)
    expect(new Set(lines.map((line) => [...line].length)).size).toBe(1)
  })

  it('makes a router, its token and its configuration', async () => {
    const [out, config] = [join(network.folder, 'r1.jwt'), join(network.folder, 'r1.yml')]
    const { code } = await run(
      'r1',
      '--router',
      '--tunneler',
      '--out',
      out,
      '--config',
      config,
      '--advertise',
      'r1.example:3022',
    )
    expect(code).toBe(0)
    const [router] = await json('edge-routers', 'list', '--filter', 'name = "r1"')
    expect(router).toMatchObject({
      isTunnelerEnabled: true,
      isVerified: false,
      enrollmentJwt: await readFile(out, 'utf8'),
    })
    expect(await readFile(config, 'utf8')).toContain('advertise: "r1.example:3022"')
  })

  it.each([
    ['no name', [], 'invite takes one name'],
    ['an option of routers', ['laptop', '--config', 'x.yml'], '--config is for routers'],
    ['an address for no configuration', ['r9', '--router', '--advertise', 'r9:3022'], 'add --config FILE'],
    [
      'a folder that is not there',
      ['r9', '--router', '--out', '/nowhere/r9.jwt'],
      "'/nowhere/r9.jwt' cannot be written: there is no folder /nowhere",
    ],
    ['an option of identities', ['r9', '--router', '--admin'], '--admin is for identities'],
    ['a type that there is not', ['laptop', '--type', 'Router'], "not 'Router'"],
    [
      'an address without a port',
      ['r9', '--router', '--config', 'x.yml', '--advertise', 'r9'],
      '--advertise takes HOST:PORT',
    ],
  ])('refuses %s in words', async (_what, args, words) => {
    const { code, stderr } = await run(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
  })

  it('makes nothing where the command line cannot be used', async () => {
    expect(await json('edge-routers', 'list', '--filter', 'name = "r9"')).toEqual([])
  })
})
