import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZiti } from '../../examples/traffic/ziti.ts'
import { LinkedNetwork, serveDigests, untilServed } from '../support/linked-network.ts'

const ziti = findZiti()
const MINUTE = 60_000
const DIALS = 60
/** A router waits 5 s for a host, and a tunneler as long for its dial, also while it does not run. */
const HOST_STOPPED_MS = 3000
const CLIENT_STOPPED_MS = 4000

if (ziti === undefined) {
  console.warn('SKIPPED: no tunneler gave up dials, because there is no `ziti` on the path and ZITI names none')
}

describe.skipIf(ziti === undefined)('a Go host at a router of ours', () => {
  it('serves everybody within seconds after a tunneler gave up its dials in silence', {
    timeout: 4 * MINUTE,
  }, async () => {
    const network = await LinkedNetwork.open(ziti ?? '')
    onTestFinished(() => network.close())
    const web = await serveDigests(1024)
    onTestFinished(() => web.close())
    const router = await network.own('router', { listen: '127.0.0.1:0' })
    await network.service('web', web.port, { client: router.id, host: router.id })
    const [proxy = 0] = await freePorts(1)
    const host = await network.tunneler('web', 'host')
    const client = await network.tunneler('web', 'client', proxy)
    await untilServed(proxy)

    // The host answers when the tunneler that dials does not run, which finds its time over when it goes on.
    host.kill('SIGSTOP')
    const sockets: Socket[] = Array.from({ length: DIALS }, () =>
      connect(proxy, '127.0.0.1').on('error', () => undefined),
    )
    onTestFinished(() => void sockets.map((socket) => socket.destroy()))
    await sleep(HOST_STOPPED_MS)
    client.kill('SIGSTOP')
    host.kill('SIGCONT')
    await sleep(CLIENT_STOPPED_MS)
    client.kill('SIGCONT')
    const tookMs = await untilServed(proxy, 90_000)
    console.log(`served ${Math.round(tookMs)} ms after the tunneler went on`)
    expect(tookMs).toBeLessThan(15_000)
  })
})
