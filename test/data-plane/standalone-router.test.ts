import { X509Certificate } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { enrollRouter, type RouterIdentity } from '../../adapters/router/control/router-enrollment.ts'
import {
  runRouter,
  type StandaloneRouter,
  type StandaloneRouterOptions,
} from '../../adapters/router/standalone-router.ts'
import { LinkedNetwork, until } from '../support/linked-network.ts'

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
    await until(async () => (await network.links()).length, 1, 10_000)
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
    expect(accepting.router.links.all).toEqual([])
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
    await until(async () => changed.some(({ key }) => key !== changed[0]?.key) || changed.length > 1, true)
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
