import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPkiDirectory } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endAll, portcullis, portIn, type Running } from './cli-process.ts'

const admin = { PORTCULLIS_ADMIN_USERNAME: 'keeper', PORTCULLIS_ADMIN_PASSWORD: 'a-secret-of-mine' }

let cwd: string
let service: Running
let url: string

const run = (args: readonly string[], variables: Readonly<Record<string, string>> = admin) =>
  portcullis(['explain', ...args], { cwd, variables }).ended

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-explain-'))
  service = portcullis(['serve', '--listen', '127.0.0.1:0', '--pki', 'pki'], { cwd, variables: admin })
  url = `https://127.0.0.1:${portIn(await service.ready)}`
})
afterAll(async () => {
  service.kill('SIGTERM')
  await service.ended
  endAll()
  await rm(cwd, { recursive: true })
})

describe('portcullis explain', () => {
  it('prints why in sentences', async () => {
    const args = ['--url', url, '--ca', 'pki/ca.pem', '--identity', 'nobody', '--service', 'web', '--type', 'bind']
    const { code, stdout, stderr } = await run(args)
    expect(stderr).toBe('')
    expect(stdout).toBe(
      [
        "'nobody' may not bind 'web': there is no such identity.",
        "Check the identity: none has the id or name 'nobody'.",
        '',
      ].join('\n'),
    )
    expect(code).toBe(3)
  })

  it.each([
    ['without --ca', [], 'name its trust bundle with --ca'],
    ['with that of another network', ['--ca', 'other/ca.pem'], 'other/ca.pem is not its trust bundle'],
  ])('trusts no certificate %s', async (_what, ca, advice) => {
    const request = { hosts: ['localhost'], trustDomain: 'other.example', now: Date.now(), serverKey: 'P-256' } as const
    await openPkiDirectory(join(cwd, 'other'), request)
    const { code, stdout, stderr } = await run(['--url', url, '--identity', 'a', '--service', 'b', ...ca])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`portcullis: the controller's certificate is not trusted: ${advice}`)
    expect(stderr).not.toContain(admin.PORTCULLIS_ADMIN_PASSWORD)
  })

  it.each([
    ['no address', ['--identity', 'a', '--service', 'b'], 'explain needs --url'],
    ['no identity', ['--url', 'https://a:1', '--service', 'b'], 'explain needs --identity'],
    ['no service', ['--url', 'https://a:1', '--identity', 'a'], 'explain needs --service'],
    ['plain HTTP', ['--url', 'http://a:1', '--identity', 'a', '--service', 'b'], '--url takes https://HOST:PORT'],
    ['another type', ['--url', 'https://a:1', '--identity', 'a', '--service', 'b', '--type', 'x'], '--type takes dial'],
    ['another option', ['--listen', 'x'], "Unknown option '--listen'"],
    ['a file that is not there', ['--url', 'https://a:1', '--identity', 'a', '--service', 'b', '--ca', 'x'], '--ca'],
  ])('%s is told with exit code 2', async (_what, args, message) => {
    const { code, stderr } = await run(args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  it('no credentials are told with exit code 2', async () => {
    const { code, stderr } = await run(['--url', url, '--identity', 'a', '--service', 'b'], {})
    expect(stderr).toContain('PORTCULLIS_ADMIN_USERNAME')
    expect(code).toBe(2)
  })
})
