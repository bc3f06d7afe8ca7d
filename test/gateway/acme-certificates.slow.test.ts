import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { type AcmeCertificates, type AcmeFailure, type AcmeOptions, acmeCertificates } from 'portcullis/gateway'
import { type FakeClock, type FakeScheduler, fakeClock, fakeScheduler } from 'portcullis/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ACME_STEPS, type AcmeFault, AcmeServer } from '../support/acme-server.ts'
import { patience, runs } from '../support/property-runs.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const HOME = 'home.apps.example'
const PAYROLL = 'payroll.apps.example'

let folder: string
let clock: FakeClock
let scheduler: FakeScheduler
let acme: AcmeServer
let services: string[]
let failures: AcmeFailure[]
let issued: string[]
/** Ends what a test began. */
let ends: (() => Promise<unknown>)[]
let port: number

beforeEach(begin)
afterEach(end)

async function begin(): Promise<void> {
  const first = await mkdtemp(join(tmpdir(), 'portcullis-acme-'))
  folder = first
  clock = fakeClock(Date.now())
  scheduler = fakeScheduler(clock)
  services = ['payroll']
  failures = []
  issued = []
  acme = await AcmeServer.start({ now: clock.now, port: () => port })
  ends = [() => acme.close(), () => rm(first, { recursive: true, force: true })]
}

async function end(): Promise<void> {
  for (const one of ends) await one()
}

/** Certificates in a folder, and a server that shows them. */
async function opened(more: Partial<AcmeOptions> = {}): Promise<AcmeCertificates> {
  const certificates = await acmeCertificates({
    ...{ hosts: '*.apps.example:8443', services: async () => services, directory: acme.directory, folder },
    ...{ termsOfServiceAgreed: true, contact: 'ops@apps.example', clock, scheduler },
    onIssued: ({ host }) => issued.push(host),
    onFailure: (failure) => failures.push(failure),
    ...more,
  })
  const server = createServer(certificates.tls, (_, outgoing) => outgoing.end('open'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
  ends.unshift(async () => {
    await certificates.close()
    server.closeAllConnections()
    server.close()
  })
  return certificates
}

/** A connection to a host. Rejects with the alert of the server. */
function connected(servername: string | undefined, more: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, rejectUnauthorized: false, ...(servername && { servername }), ...more }
    const socket = connect(options, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** The serial number of the certificate that a host shows, and undefined where it shows none. */
async function shown(servername: string | undefined, more?: ConnectionOptions): Promise<string | undefined> {
  const socket = await connected(servername, more).catch(() => undefined)
  const serial = socket?.getPeerCertificate().serialNumber
  socket?.destroy()
  return serial
}

/** The process is killed, and another one begins with what the disk had. */
async function restarted(dying: AcmeCertificates): Promise<AcmeCertificates> {
  const disk = await mkdtemp(join(tmpdir(), 'portcullis-acme-'))
  ends.push(() => rm(disk, { recursive: true }))
  // A file that is written meanwhile may be renamed between two looks of the copy.
  const copied = () => cp(folder, disk, { recursive: true })
  await copied().catch(copied)
  await dying.close()
  acme.heal()
  folder = disk
  return opened()
}

/** Turns the clock until something is so, or a month is over. */
async function elapseUntil(isSo: () => boolean): Promise<void> {
  for (let quarters = 0; quarters < 120 && !isSo(); quarters += 1) {
    // Exchanges with the server go on in real time.
    for (let turns = 0; turns < 10 && !isSo(); turns += 1) await new Promise((resolve) => setTimeout(resolve, 5))
    if (!isSo()) await elapse(DAY_MS / 4)
  }
}

const eventually = (read: () => unknown) => expect.poll(read, { timeout: 20_000, interval: 20 })
const elapse = (ms: number) => scheduler.runUntil(clock.now() + ms)

describe('certificates by ACME', () => {
  it('come for the home and each service, are kept for their owner alone, and serve after a restart without the server', async () => {
    services = ['payroll', 'wiki', 'Wiki2', 'no label', 'home']
    const first = await opened()
    await eventually(() => issued).toEqual([HOME, PAYROLL, 'wiki.apps.example'])
    const trusted = await connected(PAYROLL, { ca: acme.ca.cert, rejectUnauthorized: true })
    expect(trusted.authorized).toBe(true)
    trusted.destroy()
    expect([...acme.accounts.values()]).toMatchObject([{ contact: ['mailto:ops@apps.example'] }])
    const before = await shown(PAYROLL)
    expect(await shown(HOME)).not.toBe(before)
    const [own = ''] = await readdir(folder)
    const files = await readdir(join(folder, own))
    expect(files.toSorted()).toEqual([
      'account.key',
      'home.apps.example.pem',
      `${PAYROLL}.pem`,
      'wiki.apps.example.pem',
    ])
    for (const file of files) expect((await stat(join(folder, own, file))).mode & 0o777).toBe(0o600)

    await first.close()
    await acme.close()
    await opened()
    expect(await shown(PAYROLL)).toBe(before)
    await elapse(DAY_MS)
    expect(failures).toEqual([])
    expect(acme.orders).toHaveLength(3)
  })

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'are renewed at two thirds of their life, for new connections, while %s goes on with the former one',
    async (maxVersion) => {
      await opened()
      await eventually(() => issued).toEqual([HOME, PAYROLL])
      const before = await shown(PAYROLL, { maxVersion })
      const lasting = await connected(PAYROLL, { maxVersion })
      await elapse(59 * DAY_MS)
      expect(await shown(PAYROLL, { maxVersion })).toBe(before)
      expect(acme.orders).toHaveLength(2)
      // The present certificate is shown to browsers also while the server looks at the challenge.
      const looks = acme.break('finalize', 'hangs', PAYROLL)
      await elapse(DAY_MS + MINUTE_MS)
      await looks
      expect(await shown(PAYROLL, { maxVersion, ALPNProtocols: ['http/1.1'] })).toBe(before)
      acme.heal()
      await elapse(3 * MINUTE_MS)
      await eventually(() => failures).toHaveLength(1)
      await elapse(5 * MINUTE_MS)
      await eventually(() => issued).toEqual([HOME, PAYROLL, HOME, PAYROLL])
      expect(await shown(PAYROLL, { maxVersion })).not.toBe(before)
      expect(lasting.getPeerCertificate().serialNumber).toBe(before)
      lasting.write(`GET / HTTP/1.1\r\nhost: ${PAYROLL}\r\nconnection: close\r\n\r\n`)
      expect(String(await new Promise((resolve) => lasting.once('data', resolve)))).toContain('200 OK')
    },
  )

  it(
    'come by one account, and no order more than failures and deaths explain, whatever fails in a row and wherever the process dies',
    async () => {
      const trouble = fc.record({
        step: fc.constantFrom(...ACME_STEPS),
        fault: fc.constantFrom<AcmeFault>('refuses', 'fails', 'limits', 'hangs', 'is away'),
        dies: fc.boolean(),
      })
      const property = fc.asyncProperty(fc.array(trouble, { minLength: 1, maxLength: 4 }), async (troubles) => {
        services = []
        let certificates = await opened()
        for (const { step, fault, dies } of troubles) {
          let isReached = false
          void acme.break(step, fault).then(() => (isReached = true))
          await elapseUntil(() => isReached || issued.length > 0)
          if (dies) {
            certificates = await restarted(certificates)
          } else {
            await elapse(3 * MINUTE_MS)
            acme.heal()
          }
        }
        await elapseUntil(() => issued.length > 0)
        expect(await shown(HOME)).toBeDefined()
        expect(acme.accounts.size).toBe(1)
        // Another order, or another certificate, has a failure that was reported, or a death between the request and the write of its answer.
        const explained = failures.length + troubles.filter(({ dies }) => dies).length
        expect(acme.issued.length).toBeLessThanOrEqual(1 + explained)
        expect(acme.orders.length).toBeLessThanOrEqual(1 + explained)
      })
      const anew = async () => {
        await end()
        await begin()
      }
      await fc.assert(property.beforeEach(anew), runs(30, 4))
    },
    patience(300_000),
  )

  it.each(ACME_STEPS)('go on where the process died while the server sent nothing at %s', async (step) => {
    services = []
    const dying = await opened()
    await acme.break(step, 'hangs')
    await restarted(dying)
    await eventually(() => issued).toEqual([HOME])
    expect(await shown(HOME)).toBeDefined()
    // The account and the order that had begun go on: neither a second account, nor a second order, nor a second certificate.
    expect(acme.accounts.size).toBe(1)
    expect(acme.orders).toHaveLength(1)
    expect(acme.issued).toEqual([HOME])
  })

  it.each(ACME_STEPS)('come after a pause where the server sent nothing at %s', async (step) => {
    services = []
    await opened()
    await acme.break(step, 'hangs')
    expect(failures).toEqual([])
    await elapse(3 * MINUTE_MS)
    await eventually(() => failures).toMatchObject([{ host: HOME, reason: 'no certificate in time' }])
    acme.heal()
    await elapse(4 * MINUTE_MS)
    expect(issued).toEqual([])
    await elapse(MINUTE_MS)
    await eventually(() => issued).toEqual([HOME])
    expect(acme.issued).toEqual([HOME])
  })

  it('stay in use while the server is away, which is asked after pauses that grow, and once for all hosts', async () => {
    await opened()
    await eventually(() => issued).toHaveLength(2)
    const before = await shown(PAYROLL)
    void acme.break('directory', 'is away')
    void acme.break('newOrder', 'is away')
    await elapse(60 * DAY_MS + MINUTE_MS)
    for (const [index, minutes] of [5, 10, 20, 40].entries()) {
      await eventually(() => failures.length).toBe(index + 1)
      expect((failures[index]?.retryAt ?? 0) - clock.now()).toBe(minutes * MINUTE_MS)
      await elapse(minutes * MINUTE_MS)
    }
    expect(await shown(PAYROLL)).toBe(before)
    acme.heal()
    await elapse(12 * 60 * MINUTE_MS)
    await eventually(() => issued).toHaveLength(4)
    expect(await shown(PAYROLL)).not.toBe(before)
  })

  it('wait as long as the server asks for', async () => {
    services = []
    await opened()
    await acme.break('newOrder', 'limits')
    await eventually(() => failures).toMatchObject([
      { host: HOME, reason: 'the server answered 429: too many', retryAt: clock.now() + 120 * MINUTE_MS },
    ])
  })

  it.each(['newOrder', 'authorization', 'challenge', 'finalize'] as const)(
    'come for other hosts where the server refuses one at %s, which is asked again after a pause, also over a restart',
    async (step) => {
      void acme.break(step, 'refuses', HOME)
      const first = await opened()
      await eventually(() => issued).toEqual([PAYROLL])
      expect(failures).toEqual([
        { host: HOME, reason: `no certificate at ${step}`, retryAt: clock.now() + 5 * MINUTE_MS },
      ])
      expect(await shown(HOME)).toBeUndefined()
      await first.close()
      await opened()
      acme.heal()
      await elapse(4 * MINUTE_MS)
      expect(issued).toEqual([PAYROLL])
      await elapse(MINUTE_MS)
      await eventually(() => issued).toEqual([PAYROLL, HOME])
    },
  )

  it('do not come for a host that is served elsewhere, and the failure says what the server saw', async () => {
    services = []
    const elsewhere = createServer({ key: acme.ca.key, cert: acme.ca.cert })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const address = elsewhere.address()
    const first = await opened()
    port = typeof address === 'object' && address !== null ? address.port : 0
    await eventually(() => failures.length).toBe(1)
    expect(failures[0]?.reason).toMatch(/^the challenge is invalid: .*no application protocol/i)
    await first.close()
    elsewhere.close()
  })

  it('are neither shown to a stranger nor ordered by its names', async () => {
    await opened()
    await eventually(() => issued).toHaveLength(2)
    const names = ['evil.example', 'wiki.apps.example', 'a.payroll.apps.example', 'apps.example', undefined]
    for (const name of names) {
      await expect(connected(name)).rejects.toThrow(/alert handshake failure/)
      await expect(connected(name, { ALPNProtocols: ['acme-tls/1'] })).rejects.toThrow(/alert/)
    }
    // A host that is proved already answers no challenge.
    await expect(connected(PAYROLL, { ALPNProtocols: ['acme-tls/1'] })).rejects.toThrow(/no application protocol/)
    await elapse(2 * 60 * MINUTE_MS)
    expect(acme.orders).toHaveLength(2)
  })

  it('are shown to nobody who asks for a challenge without a name while one is under way', async () => {
    services = []
    const challenged = acme.break('challenge', 'hangs')
    await opened()
    await challenged
    await expect(connected(undefined, { ALPNProtocols: ['acme-tls/1'] })).rejects.toThrow(/no application protocol/)
  })

  it('are renewed also where somebody makes more services than may have certificates', async () => {
    await opened()
    await eventually(() => issued).toEqual([HOME, PAYROLL])
    await elapse(59 * DAY_MS)
    services = [...Array.from({ length: 1100 }, (_, index) => `a${index}`), 'payroll']
    await elapse(DAY_MS + 60 * MINUTE_MS)
    await eventually(() => issued.slice(0, 4)).toEqual([HOME, PAYROLL, HOME, PAYROLL])
    expect(failures.map(({ reason }) => reason)).toContain(
      'there are 1102 hosts for certificates, and at most 1000 may have one',
    )
  })

  it('come for a new service within seconds of a refresh, and are not renewed for one that is gone', async () => {
    const certificates = await opened()
    await eventually(() => issued).toHaveLength(2)
    services = ['wiki']
    certificates.refresh()
    await elapse(1000)
    await eventually(() => issued).toEqual([HOME, PAYROLL, 'wiki.apps.example'])
    expect(await shown(PAYROLL)).toBeDefined()
    await elapse(61 * DAY_MS)
    await eventually(() => issued.slice(3)).toEqual([HOME, 'wiki.apps.example'])
    await elapse(31 * DAY_MS)
    await eventually(() => shown(PAYROLL)).toBeUndefined()
    const [own = ''] = await readdir(folder)
    await eventually(() => readdir(join(folder, own))).not.toContain(`${PAYROLL}.pem`)
  })

  it('are replaced where a kept file is damaged, of another host, or half of another pair', async () => {
    const first = await opened()
    await eventually(() => issued).toHaveLength(2)
    await first.close()
    const own = join(folder, (await readdir(folder))[0] ?? '')
    const home = await readFile(join(own, `${HOME}.pem`), 'utf8')
    await writeFile(join(own, `${PAYROLL}.pem`), home)
    await writeFile(join(own, `${HOME}.pem`), 'damaged')
    await writeFile(join(own, `${HOME}.order.json`), '{"failures": "many"}')
    await opened()
    await eventually(() => issued.slice(2)).toEqual([HOME, PAYROLL])
    expect(failures.map(({ host }) => host)).toContain(PAYROLL)
  })

  it('report a list of services that fails, and ask for it again', async () => {
    let isBroken = true
    await opened({
      services: () => {
        if (isBroken) throw new Error('no database')
        return services
      },
    })
    await eventually(() => failures).toMatchObject([{ host: undefined, reason: 'no database' }])
    isBroken = false
    await elapse(5 * MINUTE_MS)
    await eventually(() => issued).toHaveLength(2)
  })
})
