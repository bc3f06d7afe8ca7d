import { describe, expect, it, onTestFinished } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZitiLines } from '../../examples/traffic/ziti.ts'
import {
  digestThrough,
  LinkedNetwork,
  sendThrough,
  serveDigests,
  until,
  untilServed,
} from '../support/linked-network.ts'

const lines = findZitiLines()
const MINUTE = 60_000
const MEGABYTE = 1024 * 1024
/** Every turn of the lines: each is the client's router, the one between and the host's once. */
const TURNS = lines.map((_, turn) => lines.map((_line, at) => lines[(at + turn) % lines.length] ?? ''))

if (lines.length < 2) {
  console.warn(
    'SKIPPED: no routers of several lines together, because ZITI_LINES names no programs, as `/a/ziti,/b/ziti`',
  )
}

/** A network of three routers in a row, and a service that is dialed at one end and hosted at the other. */
async function inRow([client = '', between = client, host = client]: readonly string[]) {
  const network = await LinkedNetwork.open(client)
  onTestFinished(() => network.close())
  const web = await serveDigests(10 * MEGABYTE)
  onTestFinished(() => web.close())
  const [proxy = 0] = await freePorts(1)
  const east = await network.deployed('east', 'dials', ['default'], client)
  const west = await network.deployed('west', 'dials', ['default'], host)
  const middle = await network.deployed('middle', 'listens', ['default'], between)
  await network.service('web', web.port, { client: east.id, host: west.id })
  await until(() => network.links(), ['east->middle', 'west->middle'], MINUTE)
  await network.tunneler('web', 'host')
  await network.tunneler('web', 'client', proxy)
  await untilServed(proxy, MINUTE)
  return { network, web, proxy, middle }
}

describe.skipIf(lines.length < 2)('routers of several lines in one network', () => {
  it.each(TURNS)(
    'carry traffic whole, and a dial over them is followed: %s, %s, %s',
    { timeout: 4 * MINUTE },
    async (...turn) => {
      const { network, web, proxy } = await inRow(turn)
      expect(await digestThrough(proxy)).toBe(web.digest)
      expect(await sendThrough(proxy, 10 * MEGABYTE)).toBe(true)
      const ways = await network.ways()
      expect(new Set(ways)).toEqual(new Set(['east-middle-west']))
      const versions = Object.values(await network.admin.call('GET', '/edge-routers')).map(
        (router) => Object(router).versionInfo.version,
      )
      expect(new Set(versions).size).toBe(new Set(turn).size)
      const connected = await network.followed('web', proxy)
      console.log(connected.text)
      expect(connected.outcome).toBe('connected')
      web.close()
      const stopped = await network.followed('web', proxy)
      console.log(stopped.text)
      expect([stopped.outcome, stopped.stoppedAt]).toEqual(['stopped', 'host'])
    },
  )

  it('lose no circuit when one of two ways is upgraded from line to line under traffic', {
    timeout: 8 * MINUTE,
  }, async () => {
    const [oldest = '', ...newer] = lines
    const { network, web, proxy, middle } = await inRow([lines.at(-1) ?? '', oldest, lines.at(-1) ?? ''])
    await network.deployed('around', 'listens', ['default'], newer[0])
    const both = ['east->around', 'east->middle', 'west->around', 'west->middle']
    await until(() => network.links(), both, MINUTE)
    await network.costOf('around', 100_000)
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
    const traffic = Promise.all([download(), download()])
    const passes = async () => (await network.ways()).some((way) => way.includes('middle'))
    for (const line of newer) {
      await until(passes, true, MINUTE)
      await network.agent('quiesce', middle)
      await until(passes, false, MINUTE)
      middle.process.kill('SIGTERM')
      const isOnline = async () => (await network.admin.call('GET', `/edge-routers/${middle.id}`)).isOnline
      await until(isOnline, false, MINUTE)
      middle.restart(line)
      await network.untilOnline(middle.id)
      await network.agent('dequiesce', middle)
      await until(() => network.links(), both, MINUTE)
      await network.costOf('around', 100_000)
      console.log(`upgraded to ${line}: ${whole} downloads of 10 MB whole, ${failed.length} failed`)
    }
    isOver.traffic = true
    await traffic
    expect(failed).toEqual([])
    expect(whole).toBeGreaterThanOrEqual(2)
  })
})
