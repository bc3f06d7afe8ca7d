import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type Quickstart, startQuickstart } from './support/quickstart.ts'

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portcullis-quickstart-'))
})
afterAll(() => rm(directory, { recursive: true }))

describe('the story, once', () => {
  let run: Quickstart
  let address: string

  beforeAll(async () => {
    address = `127.0.0.1:${await freePort()}`
    run = startQuickstart(directory, ['--once'], { PORTCULLIS_LISTEN: address })
    await run.exited
  })

  it('ends with 0', async () => expect(await run.exited, run.output()).toBe(0))

  it.each([
    ['creates a PKI', () => 'created in .portcullis/pki'],
    ['says where it serves', () => `serving the client API and the management API on https://${address}`],
    ['says where records are kept', () => 'SQLite database'],
    ['creates the identities', () => 'identities: laptop, phone, contractor, app-server'],
    ['verifies the enrollment token', () => 'enrollment JWT verified'],
    ['gets a certificate', () => 'certificate issued for URI:spiffe://corp.example/identity/'],
    ['authenticates with it', () => 'laptop authenticated with its certificate over mTLS'],
    ['lists the guarded service before its posture passes', () => 'payroll: Dial, not passing'],
    ['lists it passing afterwards', () => 'payroll: Dial, passing'],
    ['creates a session', () => /Dial session \S+ created, by edge router er-\w+ \(o\w+\) or er-\w+/],
    [
      'hosts an app without a port',
      () => 'app-server hosts payroll with an app of this process, which listens on no port',
    ],
    ['reads its page', () => 'the laptop read http://payroll/ through edge router er-cloud, encrypted from end to end'],
    ['sees an open connection stand still', () => 'the connection that was open stands still'],
    ['is refused a connection, with the reason', () => /a new connection is refused \(POSTURE_FAILED\): payroll: \S/],
    ['loses the session', () => /session \S+ is gone \(404 NOT_FOUND\)/],
    ['is refused a new one', () => 'a new session is refused (409 INVALID_POSTURE)'],
    ['sees the refusal recorded', () => 'failed service request: payroll, failing policy employees-dial-payroll'],
    ['shows who may bind', () => /app-server +payroll +Bind\n/],
    ['shows who may dial', () => / printer +Dial\n/],
    ['shows a denial by posture', () => /laptop +payroll +denied: posture check company-domain fails\n/],
    ['shows a denial by policy', () => /contractor +payroll +denied: no service policy grants it\n/],
    ['shows a denial by edge routers', () => / printer +denied: no edge router that both may use\n/],
    ['shows who is not enrolled', () => /phone +payroll +denied: not enrolled yet\n/],
  ])('%s', (_, expected) => expect(run.output()).toMatch(expected()))

  it('prints no colours where standard output is not a terminal', () => expect(run.output()).not.toContain('\u001b'))

  it.each(['pki/ca.pem', 'laptop.pem', 'laptop.key', 'admin.json'])('writes .portcullis/%s', async (file) => {
    expect(await readFile(join(directory, '.portcullis', file), 'utf8')).not.toBe('')
  })

  it.each(['laptop.key', 'admin.json'])('lets nobody else read .portcullis/%s', async (file) => {
    expect((await stat(join(directory, '.portcullis', file))).mode & 0o077).toBe(0)
  })
})

describe('a later run, serving on', () => {
  let run: Quickstart

  beforeAll(async () => {
    run = startQuickstart(directory, ['--listen', `127.0.0.1:${await freePort()}`], { PORTCULLIS_LISTEN: 'overridden' })
    await run.said('Ctrl-C ends it')
  })
  afterAll(() => run.process.kill('SIGKILL'))

  it('reuses the certificates', () => expect(run.output()).toContain('reused from .portcullis/pki'))

  it('shows the admin password no second time', async () => {
    const { password } = JSON.parse(await readFile(join(directory, '.portcullis/admin.json'), 'utf8'))
    expect(run.output()).not.toContain(password)
  })

  it.each([
    ['Log in with the password', '"name":"contractor"'],
    ['Log in as laptop', '"name":"payroll"'],
    ['Enroll phone', '"name":"payroll"'],
  ])('prints shell lines that work: %s', (title, expected) => {
    const shell = spawnSync('sh', ['-eux', '-c', recipe(run.output(), title)], { cwd: directory, encoding: 'utf8' })
    expect(shell.status, shell.stderr).toBe(0)
    expect(shell.stdout, shell.stderr).toContain(expected)
  })

  it('ends with 0 on SIGTERM', async () => {
    run.process.kill('SIGTERM')
    expect(await run.exited).toBe(0)
  })
})

/** The lines below a title, up to the next empty line. */
function recipe(output: string, title: string): string {
  const [, ...lines] =
    output
      .slice(output.indexOf(`# ${title}`))
      .split('\n\n', 1)[0]
      ?.split('\n') ?? []
  expect(lines.length).toBeGreaterThan(1)
  return lines.join('\n')
}

describe('what goes wrong', () => {
  it('names the step and the option when the address is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const run = startQuickstart(directory, ['--once', '--listen', `127.0.0.1:${port}`])
    expect(await run.exited).toBe(1)
    expect(run.output()).toMatch(/Step 2 \(Controller\) failed: .* already in use.*--listen/)
    other.close()
  })

  it('says what to do when the certificates of an earlier run name another host', async () => {
    const run = startQuickstart(directory, ['--once', '--listen', `127.0.0.2:${await freePort()}`])
    expect(await run.exited).toBe(1)
    expect(run.output()).toMatch(/Step 1 \(Certificates\) failed: .* do not name 127\.0\.0\.2: remove that folder/)
  })

  it.each([
    ['an unknown option', ['--wait'], {}, "Unknown option '--wait'"],
    ['a stray argument', ['now'], {}, 'now'],
    ['a listen address without a port', ['--listen', 'localhost'], {}, '--listen takes HOST:PORT'],
    ['a port that does not exist', ['--listen', 'localhost:65536'], {}, '--listen takes HOST:PORT'],
    ['a port that is no port', ['--listen', 'localhost:0'], {}, '--listen takes HOST:PORT'],
    ['a bad environment', [], { PORTCULLIS_LISTEN: '1280' }, 'PORTCULLIS_LISTEN takes HOST:PORT'],
  ])('ends with 2 on %s', async (_, args, environment, message) => {
    const run = startQuickstart(directory, args, environment)
    expect(await run.exited).toBe(2)
    expect(run.output()).toContain(message)
    expect(run.output()).toContain('usage: npm start')
  })
})
