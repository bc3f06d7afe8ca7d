import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZiti, isOfLineOne } from '../../examples/traffic/ziti.ts'
import { portcullis, type Running } from '../adapters/cli/cli-process.ts'
import { DeployedNetwork } from '../support/deployed-network.ts'
import { digestThrough, sendThrough, serveDigests, untilServed } from '../support/linked-network.ts'

const ziti = findZiti()
const MEGABYTE = 1024 * 1024
/** The system of this machine as the program names it. */
const SYSTEM = process.platform === 'darwin' ? 'MacOS' : 'Linux'

if (ziti === undefined) {
  console.warn('SKIPPED: no deployed controller was tried, because there is no `ziti` on the path and ZITI names none')
}

describe.skipIf(ziti === undefined)('a router of ours under a deployed controller', () => {
  let network: DeployedNetwork
  let router: Running
  let listen: string
  const started: { kill(signal: NodeJS.Signals): void }[] = []
  const command = (...args: readonly string[]) => portcullis(args, { cwd: network.folder })
  const run = async (...more: readonly string[]) => {
    router = command('router', 'run', '--file', 'ours.json', ...more)
    started.push(router)
    await router.ready
    await network.untilOnline('ours').catch((error: unknown) => {
      throw new Error(`${String(error)}: ${router.stderrSoFar()}`)
    })
  }

  beforeAll(async () => {
    network = await DeployedNetwork.open(ziti ?? '')
    listen = `127.0.0.1:${(await freePorts(1))[0]}`
    // The data model of routers arrives in many pieces.
    network.run('edge', 'create', 'config-type', 'note')
    network.run('edge', 'create', 'config', 'long', 'note', JSON.stringify({ note: 'x'.repeat(60_000) }))
    network.run('edge', 'create', 'edge-router', 'ours', '-o', network.file('ours.jwt'))
    const enrolled = await command('router', 'enroll', 'ours.jwt', '--file', 'ours.json', '--listen', listen).ended
    expect(enrolled).toMatchObject({ code: 0 })
    const doctor = await command('router', 'doctor', '--file', 'ours.json').ended
    expect(doctor).toMatchObject({ code: 0 })
    console.log(doctor.stdout)
    await run()
    // Services that the program makes may be reached by every router unless that is taken away.
    network.run('edge', 'delete', 'service-edge-router-policies', 'where', 'true')
    network.service('plain', 'OFF', '@ours')
  }, 240_000)

  afterAll(async () => {
    for (const one of started) one.kill('SIGKILL')
    await network?.close()
  })

  it('carries what our SDK dials and hosts', { timeout: 60_000 }, async () => {
    await using laptop = await openIdentity(network.file('laptop.json'))
    await using box = await openIdentity(network.file('box.json'))
    await using hosted = await box.host('plain', (connection: ServiceConnection) => connection.pipe(connection))
    expect(hosted.routers).toEqual([expect.stringContaining(listen)])
    const connection = await laptop.dial('plain')
    connection.end('x'.repeat(1_000_000))
    expect((await text(connection)).length).toBe(1_000_000)
  })

  it('carries what tunnelers dial and host, both ways', { timeout: 180_000 }, async () => {
    const web = await serveDigests(10 * MEGABYTE)
    const config = JSON.stringify({ protocol: 'tcp', address: '127.0.0.1', port: web.port })
    network.run('edge', 'create', 'config', 'web.host', 'host.v1', config)
    network.service('web', 'ON', '@ours', '-c', 'web.host')
    const [proxy = 0] = await freePorts(1)
    const of = (identity: string) => ['--identity', network.file(`${identity}.json`)]
    started.push(network.start('host', 'tunnel', 'host', ...of('box')))
    started.push(network.start('proxy', 'tunnel', 'proxy', ...of('laptop'), `web:${proxy}`))
    await untilServed(proxy, 90_000)
    expect(await digestThrough(proxy)).toBe(web.digest)
    expect(await sendThrough(proxy, 10 * MEGABYTE)).toBe(true)
    const all = await Promise.all(Array.from({ length: 10 }, () => digestThrough(proxy)))
    expect(new Set(all)).toEqual(new Set([web.digest]))
    web.close()
  })

  // At a router of the line 1.6 itself, tunnelers of that line are refused as well.
  const judges = it.skipIf(ziti !== undefined && isOfLineOne(ziti))
  judges('the posture that tunnelers report, and cuts what runs when it fails', { timeout: 180_000 }, async () => {
    const echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    const { port } = Object(echo.address())
    const config = JSON.stringify({ protocol: 'tcp', address: '127.0.0.1', port })
    network.run('edge', 'create', 'config', 'guarded.host', 'host.v1', config)
    network.service('guarded', 'OFF', '@ours', '-c', 'guarded.host')
    // The tunneler looks for itself: it knows its system, but not always the version of it.
    network.run('edge', 'create', 'posture-check', 'process', 'runs', SYSTEM, ziti ?? '', '-a', 'runs')
    network.run('edge', 'create', 'posture-check', 'domain', 'at-work', '-d', 'corp.example', '-a', 'at-work')
    const ask = (checks: string) =>
      network.run('edge', 'update', 'service-policy', 'guarded-Dial', '--posture-check-roles', checks)
    ask('#runs')
    const [proxy = 0] = await freePorts(1)
    const of = (identity: string) => ['--identity', network.file(`${identity}.json`)]
    const tunnels = [
      network.start('guarded-host', 'tunnel', 'host', ...of('box')),
      network.start('guarded-proxy', 'tunnel', 'proxy', ...of('laptop'), `guarded:${proxy}`),
    ]
    started.push(...tunnels)
    const opened: Socket[] = []
    /** A connection through the overlay, once something came back over it. */
    const passes = () =>
      new Promise<Socket | undefined>((resolve) => {
        const socket = connect(proxy, '127.0.0.1', () => socket.write('ping'))
        opened.push(socket)
        socket.once('data', () => resolve(socket))
        socket.on('error', () => undefined).on('close', () => resolve(undefined))
        socket.setTimeout(5000, () => socket.destroy())
      })
    await expect.poll(passes, { timeout: 90_000, interval: 1000 }).toBeDefined()
    const running = await passes()
    running?.setTimeout(0)
    expect(running?.destroyed).toBe(false)
    ask('#runs,#at-work')
    await expect.poll(() => running?.closed || running?.readableEnded, { timeout: 30_000 }).toBe(true)
    expect(await passes()).toBeUndefined()
    ask('#runs')
    await expect.poll(passes, { timeout: 30_000, interval: 1000 }).toBeDefined()
    for (const tunnel of tunnels) tunnel.kill()
    for (const socket of opened) socket.destroy()
    echo.close()
  })

  it('lets a circuit end when it is asked to stop, and renews its certificates', { timeout: 120_000 }, async () => {
    const laptop = await openIdentity(network.file('laptop.json'))
    const box = await openIdentity(network.file('box.json'))
    await box.host('plain', (connection: ServiceConnection) => connection.pipe(connection))
    const connection = await laptop.dial('plain')
    connection.write('before')
    expect(String((await once(connection, 'data'))[0])).toBe('before')
    router.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    connection.end(' and after')
    expect(await text(connection)).toBe(' and after')
    for (const identity of [laptop, box]) await identity.close()
    expect((await router.ended).code).toBe(0)

    const kept = async () => JSON.parse(await readFile(network.file('ours.json'), 'utf8')).identity
    const old = await kept()
    await run('--renew-certificates')
    // Until a controller has confirmed it, the new pair stands beside the former one.
    await expect.poll(async () => (await kept()).clientCert, { timeout: 30_000 }).not.toBe(old.clientCert)
    expect((await kept()).key).not.toBe(old.key)
    router.kill('SIGTERM')
    await router.ended
    await run()
  })
  it('is told by its doctor that nobody lets it in any more', { timeout: 60_000 }, async () => {
    const doctor = () => command('router', 'doctor', '--file', 'ours.json').ended
    router.kill('SIGTERM')
    await router.ended
    expect((await doctor()).code).toBe(0)
    network.run('edge', 'delete', 'edge-router', 'ours')
    const { code, stdout } = await doctor()
    expect(code).toBe(3)
    expect(stdout).toMatch(/^wrong +controllers: .*the router is deleted, disabled, or connected already/m)
  })
})
