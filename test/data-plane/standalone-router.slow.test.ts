import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { enroll, type IdentityOptions, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { describe, expect, it, onTestFinished } from 'vitest'
import { enrollRouter, type RouterIdentity } from '../../adapters/network/router/control/enrolled-router.ts'
import {
  runRouter,
  type StandaloneRouter,
  type StandaloneRouterOptions,
} from '../../adapters/network/router/standalone-router.ts'
import type { Admin } from '../../examples/traffic/network.ts'
import { LinkedNetwork, until } from '../support/linked-network.ts'
import { changeAtRandom } from '../support/random-changes.ts'

async function openNetwork(router: Parameters<typeof LinkedNetwork.open>[1] = false): Promise<LinkedNetwork> {
  const network = await LinkedNetwork.open('', router)
  onTestFinished(() => network.close())
  return network
}

const listening = { listen: '127.0.0.1:0', dialGroups: [] }

describe('routers of ours on machines of their own', () => {
  it('enroll by a token, connect, and link with each other by whoever dials', async () => {
    const network = await openNetwork()
    const accepting = await network.own('accepting', listening)
    const dialing = await network.own('dialing', {})
    await until(() => network.links(), ['dialing->accepting'])
    await until(async () => accepting.router.links.all.map(({ facts }) => facts.isDialed), [false])
    // The second socket carries acknowledgements.
    await until(async () => dialing.router.links.all[0]?.sockets.map(({ type }) => type), ['link.default', 'link.ack'])
    expect(dialing.controllers).toEqual(accepting.controllers)
  })

  it('that listen and dial both keep one link between them', async () => {
    const network = await openNetwork()
    const both = { listen: '127.0.0.1:0' }
    await Promise.all([network.own('one', both), network.own('other', both)])
    await until(async () => (await network.links()).length >= 1, true)
    await until(async () => (await network.links()).length, 1)
  })

  it('link with the router in the process of the controller, on the port of its APIs', async () => {
    const network = await openNetwork({ roleAttributes: ['all'] })
    await network.own('private', {})
    await until(() => network.links(), ['private->portcullis'])
    const listening = await network.own('listening', { listen: '127.0.0.1:0', dialGroups: [] })
    await until(() => network.links(), ['portcullis->listening', 'private->listening', 'private->portcullis'])
    expect(listening.router.links.all.length).toBe(2)
  })

  it('come back when a link is lost, with a higher attempt, and leave no trace when they close', async () => {
    const network = await openNetwork()
    const accepting = await network.own('accepting', listening)
    const dialing = await network.own('dialing', {})
    await until(() => network.links(), ['dialing->accepting'])
    const [before] = dialing.router.links.all
    accepting.router.links.all[0]?.close()
    await until(async () => dialing.router.links.all.map(({ facts }) => facts.iteration), [2])
    expect(dialing.router.links.all[0]?.facts.id).toBe(before?.facts.id)
    await until(() => network.links(), ['dialing->accepting'])
    await dialing.close()
    await until(() => network.links(), [])
    await until(async () => accepting.router.links.all, [])
  })

  it('close a link that an operator deletes, and dial it again', async () => {
    const network = await openNetwork()
    await network.own('accepting', listening)
    const dialing = await network.own('dialing', {})
    await until(() => network.links(), ['dialing->accepting'])
    const [id] = Object.values(await network.admin.call('GET', '/fabric/v1/links')).map((link) =>
      String(Object(link).id),
    )
    await network.admin.call('DELETE', `/fabric/v1/links/${id}`)
    await until(async () => dialing.router.links.all.map(({ facts }) => facts.iteration), [2])
  })

  it('forget a router that is deleted, and take no link of it', async () => {
    const network = await openNetwork()
    const accepting = await network.own('accepting', listening)
    await network.own('dialing', {})
    await until(() => network.links(), ['dialing->accepting'])
    const routers = Object.values(await network.admin.call('GET', '/edge-routers?filter=name=%22dialing%22'))
    await network.admin.call('DELETE', `/edge-routers/${Object(routers[0]).id}`)
    await until(async () => accepting.router.links.all.length, 0)
    expect(await network.links()).toEqual([])
  })

  it('renew key and certificates, show them to each other from then on, and connect by them', async () => {
    const network = await openNetwork()
    const changed: RouterIdentity[] = []
    const accepting = await network.own('accepting', {
      ...listening,
      renewsAtOnce: true,
      onChange: (identity) => void changed.push(identity),
    })
    await until(async () => changed.some(({ key }) => key !== changed[0]?.key), true)
    const renewed = changed.at(-1)
    const dialing = await network.own('dialing', {})
    await until(() => network.links(), ['dialing->accepting'])
    expect(new X509Certificate(renewed?.clientCert ?? '').subject).toContain(changed[0]?.id)
    await accepting.close()
    if (renewed === undefined) throw new Error('it was renewed')
    const again = await start({ ...listening, identity: renewed })
    await until(async () => again.controllers.length, 1)
    await until(async () => dialing.router.links.all.length, 1)
  })

  it.each([
    ['before the controller has confirmed the new ones', true],
    ['before it hears that the controller confirmed the new ones', false],
  ])('are let in again when they die %s', async (_when, isUnconfirmed) => {
    const network = await openNetwork()
    const id = await network.admin.create('/edge-routers', { name: 'mortal', isTunnelerEnabled: false })
    const { enrollmentJwt } = await network.admin.call('GET', `/edge-routers/${id}`)
    const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1'])
    const death = Promise.withResolvers<void>()
    let both: RouterIdentity | undefined
    let alone: RouterIdentity | undefined
    const dying = await start({
      identity,
      renewsAtOnce: true,
      onChange: (kept) => {
        if (kept.pending === undefined) {
          if (kept.key !== identity.key) alone = kept
          return
        }
        both = kept
        return isUnconfirmed ? death.promise : undefined
      },
    })
    await until(async () => (isUnconfirmed ? both : alone) !== undefined, true)
    if (isUnconfirmed) death.reject(new Error('the process is dead'))
    await dying.close()
    if (both === undefined) throw new Error('both were kept')
    expect(both).toMatchObject({ key: identity.key, pending: [{}] })
    const kept: RouterIdentity[] = []
    const again = await start({ identity: both, onChange: (changed) => void kept.push(changed) })
    await until(async () => again.controllers.length, 1)
    await until(async () => kept.at(-1)?.pending === undefined && kept.at(-1)?.key === both?.pending?.[0]?.key, true)
  })

  it('renew although the controller that was asked closed without an answer, as those of the line 1.6 do at first', async () => {
    const network = await openNetwork()
    const { admin } = network
    const id = await admin.create('/edge-routers', { name: 'cut', isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1'])
    const between = await forwardTo(identity.controllers[0] ?? '')
    let renewed: RouterIdentity | undefined
    const events: string[] = []
    await start({
      identity: { ...identity, controllers: [between.address] },
      renewsAtOnce: true,
      onChange: (changed) => {
        if (changed.key !== identity.key) renewed = changed
      },
      log: (event) => {
        if (event === 'certificates.asked' && !events.includes(event)) between.cut()
        events.push(event)
      },
    })
    await until(async () => renewed !== undefined, true)
    expect(renewed?.clientCert).not.toBe(identity.clientCert)
    expect(events.filter((event) => event === 'certificates.asked').length).toBe(2)
  })

  it('renew under traffic when another authority signs: each is asked over its channel, and circuits go on', async () => {
    const network = await openNetwork()
    const { admin } = network
    const changed: RouterIdentity[] = []
    const onChange = (identity: RouterIdentity) => void changed.push(identity)
    await network.own('one', { ...listening, onChange })
    const two = await network.own('two', { ...listening, onChange })
    await admin.create('/services', { name: 'echo', encryptionRequired: true })
    await grantEverywhere(admin)
    const box = await openDevice(admin, 'box', 'hosts')
    await box.host('echo', (connection: ServiceConnection) => {
      connection.on('error', () => undefined).pipe(connection)
    })
    const laptop = await openDevice(admin, 'laptop', 'clients')
    const held = await laptop.dial('echo')
    const echoed = async (word: string) => {
      held.write(word)
      expect(String((await once(held, 'data'))[0])).toBe(word)
    }
    await echoed('before')
    const keepUntil = new Date(Date.now() + 90 * 86_400_000).toISOString()
    await admin.call('POST', '/portcullis/v1/pki/rotations', { what: 'root', keepUntil })
    const pki = async () => Object(await admin.call('GET', '/portcullis/v1/pki'))
    await until(async () => (await pki()).progress.routers, { renewed: 2, outstanding: 0 })
    await echoed('after')
    const dialed = await laptop.dial('echo')
    dialed.end('by new certificates')
    expect(await text(dialed)).toBe('by new certificates')
    const [former] = (await pki()).authorities
    expect(new Set(changed.map(({ id }) => id)).size).toBe(2)
    // Devices are left: an end at once locks them out, and no router.
    const end = { goodUntil: new Date().toISOString() }
    const change = admin.call('PATCH', `/portcullis/v1/pki/authorities/${former.id}`, end)
    await expect(change).rejects.toThrow(/2 identities would be locked out: '(box|laptop)', '(box|laptop)'; /)
    // A router that was away is asked when it connects.
    held.destroy()
    await two.close()
    await admin.call('POST', '/portcullis/v1/pki/rotations', { what: 'signing' })
    await until(async () => (await pki()).progress.routers, { renewed: 1, outstanding: 1 })
    const away = Object.values(await admin.call('GET', '/portcullis/v1/pki/outstanding'))[0]
    expect(away).toMatchObject({ name: 'two', reason: 'not-connected', help: expect.stringContaining('--again') })
    const identity = changed.findLast(({ id }) => id === Object(away).id)
    if (identity === undefined) throw new Error('it was renewed')
    await start({ ...listening, identity })
    await until(async () => (await pki()).progress.routers, { renewed: 2, outstanding: 0 })
  })

  it('take a model that arrives in many pieces, at their start and again after the way was lost', async () => {
    const network = await openNetwork()
    const { admin } = network
    await grantEverywhere(admin)
    // A hundred kilobytes; a record of TLS has 16.
    const name = (count: number) => `${count} ${'x'.repeat(300)}`
    for (let count = 0; count < 300; count += 1) {
      await admin.create('/services', { name: name(count), encryptionRequired: false })
    }
    const box = await openDevice(admin, 'box', 'hosts')
    const id = await admin.create('/edge-routers', { name: 'apart', isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1'])
    const between = await forwardTo(identity.controllers[0] ?? '')
    const lost: string[] = []
    const unread: unknown[] = []
    const router = await start({
      ...listening,
      identity: { ...identity, controllers: [between.address] },
      log(event, fields) {
        if (event === 'controller.lost') lost.push(String(fields.address))
        if (event === 'controller.unread') unread.push(fields)
      },
    })
    for (const round of ['at the start', 'again']) {
      await until(async () => router.controllers.length, 1)
      const compared = () => admin.call('POST', `/portcullis/v1/routers/${id}/validate-data-model`)
      await until(() => compared().then(({ differences }) => differences, String), [])
      const hosted = await box.host(name(7), (connection: ServiceConnection) => void connection.pipe(connection))
      await until(async () => hosted.routers.length, 1)
      const dialer = await openDevice(admin, `laptop ${round}`, 'clients')
      const dialed = await dialer.dial(name(7))
      dialed.end(round)
      expect(await text(dialed)).toBe(round)
      await hosted.close()
      if (round === 'again') break
      between.cut()
      await until(async () => lost, [between.address])
    }
    expect(unread).toEqual([])
  })

  it('decide by what the controller holds, as the router in its process does, after random changes over a way that is lost', async () => {
    const network = await openNetwork({ roleAttributes: ['all'] })
    const { admin } = network
    const id = await admin.create('/edge-routers', { name: 'apart', isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1'])
    const between = await forwardTo(identity.controllers[0] ?? '')
    const router = await start({ identity: { ...identity, controllers: [between.address] } })
    await until(async () => router.controllers.length, 1)
    const [own] = Object.values(await admin.call('GET', '/edge-routers?filter=name=%22portcullis%22'))
    const differences = (routerId: string) =>
      admin.call('POST', `/portcullis/v1/routers/${routerId}/validate-data-model`).then(
        (answer) => answer.differences,
        (error: unknown) => String(error),
      )
    for (let round = 0; round < 6; round += 1) {
      const changing = changeAtRandom(admin, { count: 150, seed: 1000 + round, withOverrides: true })
      if (round % 2 === 1) between.cut()
      await changing
      for (const routerId of [id, String(Object(own).id)]) await until(() => differences(routerId), [])
    }
  }, 120_000)

  it('leave the posture of sessions of either kind to the controller, when a dial is made and while its circuit lasts', async () => {
    const network = await openNetwork()
    const { admin } = network
    await network.own('only', listening)
    await admin.create('/services', { name: 'guarded', encryptionRequired: false })
    const check = { name: 'at work', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['at-work'] }
    await admin.create('/posture-checks', check)
    await grantEverywhere(admin, { postureCheckRoles: ['#at-work'] })
    const box = await openDevice(admin, 'box', 'hosts')
    await box.host('guarded', (connection: ServiceConnection) => void connection.pipe(connection))
    for (const sessions of ['api-session', 'bearer'] as const) {
      const laptop = await openDevice(admin, sessions, 'clients', { sessions })
      await expect(laptop.dial('guarded'), sessions).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
      await laptop.report({ domain: 'corp.example' })
      const connection = await laptop.dial('guarded')
      connection.write('hello')
      expect(String((await once(connection, 'data'))[0])).toBe('hello')
      const ended = new Promise((resolve) => connection.on('error', () => undefined).once('close', resolve))
      await laptop.report({ domain: 'elsewhere.example' })
      await ended
      await expect(laptop.dial('guarded'), sessions).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
    }
  })

  it('that stop are passed over by who dials, as long as another router is there', async () => {
    const network = await openNetwork()
    const { admin } = network
    const routers = [await network.own('first', listening), await network.own('second', listening)]
    await admin.create('/services', { name: 'echo', encryptionRequired: false })
    await grantEverywhere(admin)
    const box = await openDevice(admin, 'box', 'hosts')
    const hosted = await box.host('echo', (connection: ServiceConnection) => void connection.pipe(connection))
    await until(async () => hosted.routers.length, 2)
    const laptop = await openDevice(admin, 'laptop', 'clients')
    const held = await laptop.dial('echo')
    const [carrying] = routers.filter(({ router }) => router.forwarder.circuits > 0)
    const stopped = carrying?.close({ graceMs: 60_000 })
    const dialed = await laptop.dial('echo')
    dialed.end('by the other one')
    expect(await text(dialed)).toBe('by the other one')
    held.destroy()
    await stopped
  })

  it('are enrolled once by a token, and by no other server than the one that signed it', async () => {
    const network = await openNetwork()
    const { admin } = network
    const id = await admin.create('/edge-routers', { name: 'once', isTunnelerEnabled: false })
    const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${id}`)
    const jwt = String(enrollmentJwt)
    const [header, payload, signature] = jwt.split('.')
    const other = { ...JSON.parse(Buffer.from(payload ?? '', 'base64url').toString()), sub: 'somebody' }
    const forged = [header, Buffer.from(JSON.stringify(other)).toString('base64url'), signature].join('.')
    await expect(enrollRouter(forged, ['127.0.0.1'])).rejects.toThrow('not the controller that signed')
    await expect(enrollRouter('no token', ['127.0.0.1'])).rejects.toThrow('no enrollment token')
    const identity = await enrollRouter(jwt, ['127.0.0.1', 'localhost'])
    expect(identity.id).toBe(id)
    await expect(enrollRouter(jwt, ['127.0.0.1'])).rejects.toThrow('refused the enrollment')
  })
})

async function start(options: StandaloneRouterOptions): Promise<StandaloneRouter> {
  const router = await runRouter(options)
  onTestFinished(() => router.close())
  return router
}

/** Lets clients dial and hosts host every service, through every router. */
async function grantEverywhere(admin: Admin, onDials: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const all = { semantic: 'AnyOf', serviceRoles: ['#all'] }
  await admin.create('/service-policies', {
    ...all,
    name: 'dial',
    type: 'Dial',
    identityRoles: ['#clients'],
    ...onDials,
  })
  await admin.create('/service-policies', { ...all, name: 'bind', type: 'Bind', identityRoles: ['#hosts'] })
  const routers = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] }
  await admin.create('/edge-router-policies', { ...routers, name: 'all', identityRoles: ['#all'] })
  await admin.create('/service-edge-router-policies', { ...routers, name: 'all', serviceRoles: ['#all'] })
}

/** A new identity of a role, enrolled and opened until the test ends. */
async function openDevice(admin: Admin, name: string, role: string, options: IdentityOptions = {}) {
  const body = { name, type: 'Device', isAdmin: false, roleAttributes: [role], enrollment: { ott: true } }
  const shown = await admin.call('GET', `/identities/${await admin.create('/identities', body)}`)
  const opened = await openIdentity(await enroll(String(Object(shown.enrollment).ott?.jwt)), options)
  onTestFinished(() => opened.close())
  return opened
}

/** A port that leads to a controller; `cut` ends the connections of now. */
async function forwardTo(controller: string): Promise<{ readonly address: string; cut(): void }> {
  const target = Number(/\d+$/.exec(controller)?.[0])
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
      one.pipe(other)
      open.add(one)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  return { address: `tls:127.0.0.1:${Object(server.address()).port}`, cut }
}
