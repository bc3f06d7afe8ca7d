import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZiti } from '../../examples/traffic/ziti.ts'
import {
  digestThrough,
  LinkedNetwork,
  sendThrough,
  serveDigests,
  until,
  untilServed,
} from '../support/linked-network.ts'

const ziti = findZiti()
const MINUTE = 60_000
const MEGABYTE = 1024 * 1024

if (ziti === undefined) {
  console.warn('SKIPPED: no real router linked with ours, because there is no `ziti` on the path and ZITI names none')
}

async function openNetwork(): Promise<LinkedNetwork> {
  const network = await LinkedNetwork.open(ziti ?? '')
  onTestFinished(() => network.close())
  return network
}

describe.skipIf(ziti === undefined)('a router of ours between two deployed ones', () => {
  it.each([
    {
      who: 'is dialed by both',
      role: 'dials',
      own: { listen: '127.0.0.1:0', dialGroups: [] },
      links: ['east->middle', 'west->middle'],
    },
    { who: 'dials both', role: 'listens', own: {}, links: ['middle->east', 'middle->west'] },
  ] as const)('$who and carries traffic whole, both ways', { timeout: 4 * MINUTE }, async ({ role, own, links }) => {
    const network = await openNetwork()
    const web = await serveDigests(10 * MEGABYTE)
    onTestFinished(() => web.close())
    const [proxy = 0] = await freePorts(1)
    const east = await network.deployed('east', role)
    const west = await network.deployed('west', role)
    const middle = await network.own('middle', own)
    await network.service('web', web.port, { client: east.id, host: west.id })
    await until(() => network.links(), links, 40_000)
    await network.tunneler('web', 'host')
    await network.tunneler('web', 'client', proxy)
    await untilServed(proxy)

    const begun = performance.now()
    expect(await digestThrough(proxy)).toBe(web.digest)
    const downMs = performance.now() - begun
    expect(await sendThrough(proxy, 10 * MEGABYTE)).toBe(true)
    const upMs = performance.now() - begun - downMs
    const all = await Promise.all(Array.from({ length: 20 }, () => digestThrough(proxy, 120_000)))
    expect(new Set(all)).toEqual(new Set([web.digest]))
    expect(new Set(await network.ways())).toEqual(new Set(['east-middle-west']))
    const dropped = middle.router.links.all.map(({ droppedPayloads }) => droppedPayloads)
    console.log(`10 MB down ${Math.round(downMs)} ms, up ${Math.round(upMs)} ms; payloads dropped ${dropped}`)
  })
})

/** `ziti tunnel` keeps order and windows itself unless it is told not to. */
const WINDOWS = [
  { windows: 'endpoints keep the windows', flags: [] },
  {
    windows: 'the routers keep the windows',
    flags: ['--sdk-flow-control=false', '--default-connections=1', '--control-connections=0'],
  },
] as const

describe.skipIf(ziti === undefined)('clients and hosts at a router of ours and at a deployed one', () => {
  it.each(WINDOWS)('reach each other over a link both ways: $windows', { timeout: 4 * MINUTE }, async ({ flags }) => {
    const network = await openNetwork()
    const web = await serveDigests(10 * MEGABYTE)
    onTestFinished(() => web.close())
    const [there = 0, back = 0] = await freePorts(2)
    const ours = await network.own('ours', { listen: '127.0.0.1:0' })
    const theirs = await network.deployed('theirs', 'both')
    await until(async () => (await network.links()).length > 0, true, 40_000)
    await network.service('there', web.port, { client: ours.id, host: theirs.id })
    await network.service('back', web.port, { client: theirs.id, host: ours.id })
    for (const [service, port] of [
      ['there', there],
      ['back', back],
    ] as const) {
      await network.tunneler(service, 'host', 0, flags)
      await network.tunneler(service, 'client', port, flags)
    }
    for (const [port, way] of [
      [there, 'ours-theirs'],
      [back, 'theirs-ours'],
    ] as const) {
      await untilServed(port)
      const begun = performance.now()
      expect(await digestThrough(port)).toBe(web.digest)
      expect(await sendThrough(port, 10 * MEGABYTE)).toBe(true)
      console.log(`10 MB down and up: ${Math.round(performance.now() - begun)} ms`)
      const all = await Promise.all(Array.from({ length: 10 }, () => digestThrough(port)))
      expect(new Set(all)).toEqual(new Set([web.digest]))
      expect(await network.ways()).toContain(way)
    }
    // Everything ended: no circuit is left behind.
    await until(async () => (await network.ways()).length, 0, 60_000)
    await until(async () => ours.router.forwarder.circuits, 0)
  })
})

describe.skipIf(ziti === undefined)('circuits over a router of ours, when something on their way fails', () => {
  /** Two deployed routers with two ways between them: over a router of ours, which costs less, and over a deployed one. */
  async function twoWays() {
    const network = await openNetwork()
    const web = await serveDigests(40 * MEGABYTE)
    onTestFinished(() => web.close())
    const [proxy = 0] = await freePorts(1)
    const east = await network.deployed('east', 'dials')
    const west = await network.deployed('west', 'dials')
    const ours = await network.own('ours', { listen: '127.0.0.1:0', dialGroups: [] })
    const around = await network.deployed('around', 'listens')
    await until(() => network.links(), ['east->around', 'east->ours', 'west->around', 'west->ours'], 40_000)
    await network.costOf('around', 200_000)
    await network.service('web', web.port, { client: east.id, host: west.id })
    await network.tunneler('web', 'host')
    await network.tunneler('web', 'client', proxy)
    await untilServed(proxy)
    return { network, web, proxy, ours, around }
  }

  it('take another way when the link is lost, and come back, and no byte is lost or comes twice', {
    timeout: 4 * MINUTE,
  }, async () => {
    const { network, web, proxy, ours } = await twoWays()
    const downloads = [digestThrough(proxy), digestThrough(proxy), sendThrough(proxy, 40 * MEGABYTE)]
    await until(async () => (await network.ways()).includes('east-ours-west'), true)
    for (let times = 0; times < 3; times += 1) {
      ours.router.links.all[times % 2]?.close()
      await sleep(700)
    }
    expect(await Promise.all(downloads)).toEqual([web.digest, web.digest, true])
    await until(async () => (await network.links()).filter((link) => link.endsWith('ours')).length, 2)
  })

  it('take another way when the router ends at once, and the way over it when the other one is killed', {
    timeout: 4 * MINUTE,
  }, async () => {
    const { network, web, proxy, ours, around } = await twoWays()
    const first = [digestThrough(proxy), sendThrough(proxy, 40 * MEGABYTE)]
    await until(async () => (await network.ways()).includes('east-ours-west'), true)
    await ours.close()
    expect(await Promise.all(first)).toEqual([web.digest, true])

    const again = await network.own('again', { listen: '127.0.0.1:0', dialGroups: [] })
    await until(async () => (await network.links()).filter((link) => link.endsWith('again')).length, 2, 40_000)
    await network.costOf('again', 400_000)
    const second = [digestThrough(proxy), sendThrough(proxy, 40 * MEGABYTE)]
    await until(async () => (await network.ways()).includes('east-around-west'), true)
    around.process.kill('SIGKILL')
    expect(await Promise.all(second)).toEqual([web.digest, true])
    expect(again.router.links.all.length).toBe(2)
  })

  it('lose no circuit when the routers of both ways are upgraded one after the other under traffic', {
    timeout: 5 * MINUTE,
  }, async () => {
    const { network, web, proxy, ours, around } = await twoWays()
    const isOver = { traffic: false }
    const failed: string[] = []
    let whole = 0
    const download = async () => {
      while (!isOver.traffic) {
        const digest = await digestThrough(proxy).catch(String)
        if (digest === web.digest) whole += 1
        else failed.push(digest)
      }
    }
    const traffic = Promise.all(Array.from({ length: 3 }, download))
    const passes = (name: string) => async () => (await network.ways()).some((way) => way.includes(name))
    await until(passes('ours'), true)
    // Circuits leave a router of ours before it goes, as `portcullis router run` does on SIGTERM.
    const begun = performance.now()
    await ours.close({ graceMs: 30_000 })
    const leftMs = Math.round(performance.now() - begun)
    expect(leftMs).toBeLessThan(15_000)
    await until(passes('around'), true)
    const next = await network.own('next', { listen: '127.0.0.1:0', dialGroups: [] })
    await until(async () => (await network.links()).filter((link) => link.endsWith('next')).length, 2, 60_000)
    // Circuits leave a deployed router when its agent is told so.
    await network.agent('quiesce', around)
    await until(passes('around'), false, 60_000)
    around.process.kill('SIGTERM')
    await until(async () => (await network.admin.call('GET', `/edge-routers/${around.id}`)).isOnline, false, 60_000)
    around.restart()
    await network.untilOnline(around.id)
    await network.agent('dequiesce', around)
    await until(async () => (await network.links()).filter((link) => link.endsWith('around')).length, 2, 60_000)
    isOver.traffic = true
    await traffic
    console.log(
      `upgrades under traffic: ${whole} downloads of 40 MB whole, ${failed.length} failed; left in ${leftMs} ms`,
    )
    expect(failed).toEqual([])
    expect(whole).toBeGreaterThanOrEqual(3)
    expect(next.router.links.all.length).toBe(2)
  })
})

describe.skipIf(ziti === undefined)('a dial that is followed', () => {
  it('is told hop by hop over a router of ours and a deployed one, and says where it stops', {
    timeout: 4 * MINUTE,
  }, async () => {
    const network = await openNetwork()
    const web = await serveDigests(MEGABYTE)
    const [proxy = 0] = await freePorts(1)
    const ours = await network.own('ours', { listen: '127.0.0.1:0' })
    const theirs = await network.deployed('theirs', 'both')
    await until(async () => (await network.links()).length > 0, true, 40_000)
    await network.service('web', web.port, { client: ours.id, host: theirs.id })
    const host = await network.tunneler('web', 'host')
    await network.tunneler('web', 'client', proxy)
    await untilServed(proxy)
    const follow = async () => {
      const { outcome, stoppedAt, text } = await network.followed('web', proxy)
      console.log(text)
      return [outcome, stoppedAt]
    }
    expect(await follow()).toEqual(['connected', null])
    web.close()
    expect(await follow()).toEqual(['stopped', 'host'])
    // A host that is held still answers nobody.
    host.kill('SIGSTOP')
    expect(await follow()).toEqual(['stopped', 'host'])
    host.kill('SIGKILL')
    await until(async () => Object.keys(await network.admin.call('GET', '/terminators')).length, 0, 60_000)
    expect(await follow()).toEqual(['stopped', 'terminators'])
  })
})
