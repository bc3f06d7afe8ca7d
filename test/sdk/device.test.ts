import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { generate } from 'otplib'
import { SYSTEM_CALL } from 'portcullis'
import { type EnrolledDevice, enrollDevice, openIdentity, type ServiceConnection, writeIdentity } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { tcpGate } from '../support/tcp-gate.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

const DAY_MS = 86_400_000

let network: ServedNetwork

beforeAll(async () => {
  network = await servedNetwork()
})
afterAll(() => network.close())

/** A device that enrolled and has nothing yet but its key and certificate. */
async function newDevice(name: string, role = 'clients'): Promise<EnrolledDevice> {
  return enrollDevice({ jwt: await network.invite(name, role) })
}

/** Asks a device to renew its certificate, as a change of the network's keys does. */
async function ask(name: string): Promise<void> {
  const { admin } = network.net
  const [identity] = (await admin.call('GET /identities', { query: { filter: `name = "${name}"` } })).data
  const params = { id: identity?.authenticators.cert?.id ?? '' }
  await admin.call('POST /authenticators/{id}/request-extend', { params, body: { rollKeys: false } })
}

/** The code that an authenticator app shows, or will show some seconds later. */
async function codeOf(provisioningUrl: string, inSeconds = 0): Promise<string> {
  const secret = new URL(provisioningUrl).searchParams.get('secret') ?? ''
  return generate({ secret, epoch: Math.floor(Date.now() / 1000) + inSeconds })
}

describe('a device in TypeScript', () => {
  it('enrolls by a token, and calls the client API by its certificate', async () => {
    const device = await newDevice('reader')
    expect(Object.keys(device).toSorted()).toEqual(['ca', 'cert', 'controller', 'key'])
    expect(device.controller).toBe(network.server.url)
    await using reader = await openIdentity(device)
    const { data } = await reader.client.call('GET /current-identity')
    expect(data.name).toBe('reader')
    const names: string[] = []
    for await (const service of reader.client.listAll('GET /services', { limit: 2 })) names.push(service.name)
    expect(names.toSorted()).toEqual(['app', 'guarded', 'plain'])
    const missing = reader.client.call('GET /services/{id}', { params: { id: 'nothing' } })
    await expect(missing).rejects.toMatchObject({ name: 'ApiError', status: 404 })
  })

  it('is said to be a token where it has not enrolled', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'portcullis-token-')), 'reader.jwt')
    await writeFile(file, `${await network.invite('late', 'clients')}\n`)
    const refused = openIdentity(file)
    await expect(refused).rejects.toThrow(
      /reader\.jwt is no identity: it holds an enrollment token: enroll with it first/,
    )
    await rm(dirname(file), { recursive: true })
  })

  it('logs in again where its session was ended', async () => {
    await using agent = await openIdentity(await newDevice('agent'))
    const { id } = (await agent.client.call('GET /current-api-session')).data
    await network.net.admin.call('DELETE /api-sessions/{id}', { params: { id } })
    expect((await agent.client.call('GET /current-api-session')).data.id).not.toBe(id)
  })

  it('reports its posture, and shows its second factor where a login asks for it', async () => {
    const device = await newDevice('careful')
    await using careful = await openIdentity(device, { posture: { domain: 'corp.example' } })
    await careful.client.call('GET /current-identity')
    const { allowed } = await network.net.engine.access.explain(SYSTEM_CALL, 'careful', 'guarded', 'Dial')
    expect(allowed).toBe(true)
    const { provisioningUrl } = await careful.mfa.enroll()
    await careful.mfa.verify(await codeOf(provisioningUrl))

    await using forgetful = await openIdentity(device)
    await expect(forgetful.client.call('GET /services')).rejects.toMatchObject({ code: 'SECOND_FACTOR_NEEDED' })
    // A code is good once, and the next one already.
    await using mindful = await openIdentity(device, { secondFactor: () => codeOf(provisioningUrl, 30) })
    expect((await mindful.client.call('GET /current-identity')).data.isMfaEnabled).toBe(true)
    await using wrong = await openIdentity(device, { secondFactor: async () => 'no code' })
    await expect(wrong.client.call('GET /services')).rejects.toMatchObject({ name: 'ConnectionFailure' })
  })

  it.each(['api-session', 'bearer'] as const)('renews its key and certificate: %s', async (sessions) => {
    const device = await newDevice(`lasting by ${sessions}`)
    await using lasting = await openIdentity(device, { sessions })
    const kept: EnrolledDevice[] = []
    await lasting.renew((renewed) => void kept.push(renewed))
    const [both, renewed = device, ...others] = kept
    expect(both).toMatchObject({ key: device.key, cert: device.cert, pending: { key: renewed.key } })
    expect([renewed.pending, others]).toEqual([undefined, []])
    expect(renewed.controller).toBe(device.controller)
    expect(renewed.key).not.toBe(device.key)
    expect(renewed.cert).not.toBe(device.cert)
    expect((await lasting.client.call('GET /current-identity')).data.name).toBe(`lasting by ${sessions}`)
    await using box = await openIdentity(await newDevice(`box for ${sessions}`, 'hosts'))
    await using _hosted = await box.host('app', (connection: ServiceConnection) => connection.pipe(connection))
    const connection = await lasting.dial('app')
    connection.end('after renewal')
    expect(await text(connection)).toBe('after renewal')

    await using next = await openIdentity(renewed, { sessions })
    expect((await next.client.call('GET /current-identity')).data.name).toBe(`lasting by ${sessions}`)
    await using before = await openIdentity(device, { sessions })
    await expect(before.client.call('GET /current-identity')).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
  })

  it.each(['api-session', 'bearer'] as const)('is let in whenever its renewal broke off: %s', async (sessions) => {
    const gate = await tcpGate(network.server.port)
    network.net.changeAddress(`127.0.0.1:${gate.port}`)
    const device = await newDevice(`broken off by ${sessions}`)
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-kept-'))
    const path = join(folder, 'device.json')
    onTestFinished(async () => {
      network.net.changeAddress(`127.0.0.1:${network.server.port}`)
      await gate.shut()
      await rm(folder, { recursive: true })
    })
    await using first = await openIdentity(device, { sessions })
    const renewal = first.renew(async (both) => {
      await writeIdentity(path, both)
      // The controller is gone before it hears that the certificate arrived.
      await gate.shut()
    })
    await expect(renewal).rejects.toMatchObject({ code: 'CONTROLLER_UNREACHABLE' })
    await gate.open()
    expect((await stat(path)).mode & 0o777).toBe(0o600)

    const kept: EnrolledDevice[] = []
    await using second = await openIdentity(path, {
      sessions,
      keep: async (device) => {
        kept.push(device)
        await writeIdentity(path, device)
      },
    })
    // A dead process may also have left the file as it was before the controller's word.
    const before = await readFile(path, 'utf8')
    expect((await second.client.call('GET /current-identity')).data.name).toBe(`broken off by ${sessions}`)
    await vi.waitFor(() => expect(kept.at(-1)).toMatchObject({ controller: device.controller }))
    expect(kept.at(-1)?.pending).toBeUndefined()
    await using third = await openIdentity(JSON.parse(before), { sessions })
    expect((await third.client.call('GET /current-identity')).data.name).toBe(`broken off by ${sessions}`)
    await using old = await openIdentity(device, { sessions })
    await expect(old.client.call('GET /current-identity')).rejects.toMatchObject({ code: 'NOT_AUTHENTICATED' })
  })

  it.each(['api-session', 'bearer'] as const)(
    'renews in the file that it was opened from, which other programs may share: %s',
    async (sessions) => {
      const name = `in its file by ${sessions}`
      const folder = await mkdtemp(join(tmpdir(), 'portcullis-in-file-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const path = join(folder, 'device.json')
      await writeIdentity(path, await newDevice(name))
      const before = JSON.parse(await readFile(path, 'utf8'))
      await writeIdentity(path, { ...before, enableHa: true })
      await using other = await openIdentity(path, { sessions })
      await other.client.call('GET /current-identity')
      await ask(name)
      await using device = await openIdentity(path, { sessions })
      await device.client.call('GET /current-identity')
      const kept = async () => JSON.parse(await readFile(path, 'utf8'))
      await vi.waitFor(async () => {
        const { enableHa, id } = await kept()
        expect([enableHa, id.pending, id.cert === before.id.cert]).toEqual([true, undefined, false])
      })
      // The certificate of before is void: the other program finds the next one in the file.
      expect((await other.client.call('GET /current-identity')).data.name).toBe(name)
      await using next = await openIdentity(path, { sessions })
      expect((await next.client.call('GET /current-identity')).data.name).toBe(name)
    },
  )

  it('leaves a file alone that it may not write, or that names others', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-not-its-own-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'device.json')
    const device = await newDevice('of files')
    await writeFile(join(folder, 'device.key'), device.key)
    await writeFile(join(folder, 'device.pem'), device.cert)
    const id = { key: 'file://device.key', cert: 'file://device.pem', ca: `pem:${device.ca}` }
    await writeIdentity(path, { ztAPI: `${device.controller}/edge/client/v1`, id })
    const before = await readFile(path, 'utf8')
    await ask('of files')
    await using opened = await openIdentity(path)
    const session = await opened.client.call('GET /current-api-session')
    expect(session.data.isCertExtendRequested).toBe(true)
    await sleep(500)
    expect(await readFile(path, 'utf8')).toBe(before)
  })

  it('renews one after the other, and tells each renewal to whom keeps it always', async () => {
    const device = await newDevice('doubly renewed')
    const always: EnrolledDevice[] = []
    const byHand: EnrolledDevice[] = []
    await using open = await openIdentity(device, { keep: (kept) => void always.push(kept) })
    const [one, two] = [open.renew((kept) => void byHand.push(kept)), open.renew((kept) => void byHand.push(kept))]
    await Promise.all([one, two])
    expect(always).toEqual(byHand)
    expect(byHand.map(({ pending }) => pending !== undefined)).toEqual([true, false, true, false])
    await using next = await openIdentity(always.at(-1) ?? device)
    expect((await next.client.call('GET /current-identity')).data.name).toBe('doubly renewed')
  })

  it('goes on with what it has where a renewed certificate cannot be kept', async () => {
    const device = await newDevice('unlucky')
    await using unlucky = await openIdentity(device)
    const full = async () => Promise.reject(new Error('the disk is full'))
    await expect(unlucky.renew(full)).rejects.toThrow('the disk is full')
    await using again = await openIdentity(device)
    expect((await again.client.call('GET /current-identity')).data.name).toBe('unlucky')
  })

  it('renews by itself in the last third of its certificate', async () => {
    const { clock } = network.net
    const present = clock.now()
    clock.set(present - 300 * DAY_MS)
    const old = await newDevice('old')
    clock.set(present)
    const kept = Promise.withResolvers<EnrolledDevice>()
    const keep = (device: EnrolledDevice) => {
      if (device.pending === undefined) kept.resolve(device)
    }
    await using open = await openIdentity(old, { keep })
    await open.client.call('GET /current-identity')
    const renewed = await kept.promise
    expect(Date.parse(new X509Certificate(renewed.cert).validTo)).toBeGreaterThan(present + 300 * DAY_MS)
  })

  it.each([
    [{}, 'enrollDevice: jwt is needed'],
    [{ jwt: 'x', nam: 'y' }, 'nam is no option of enrollDevice; name is one'],
    [{ jwt: 'x' }, 'this is no enrollment token'],
  ])('tells what is wrong with %j', async (enrollment, words) => {
    await expect(enrollDevice(enrollment as never)).rejects.toThrow(words)
  })
})
