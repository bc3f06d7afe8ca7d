import { createHash } from 'node:crypto'
import { type Duplex, duplexPair } from 'node:stream'
import type { FromRouter } from 'portcullis/fabric'
import { encodeFrame, type Frame, FrameReader } from '../../adapters/network/channel/frame.ts'
import { Forwarder } from '../../adapters/network/router/forwarder.ts'
import type { LinksSettings } from '../../adapters/network/router/links/link-dialer.ts'
import { type LinkHello, writeLinkHello } from '../../adapters/network/router/links/link-hello.ts'
import { Links } from '../../adapters/network/router/links/links.ts'
import { ChannelTraces } from '../../adapters/network/router/state/channel-traces.ts'

/** A clock that stands still until a test turns it. */
class TurnedClock {
  #now = 1_000_000
  readonly #planned = new Set<{ readonly at: number; readonly work: () => void }>()
  readonly now = () => this.#now
  readonly timer = (ms: number, work: () => void) => {
    const entry = { at: this.#now + ms, work }
    this.#planned.add(entry)
    return () => void this.#planned.delete(entry)
  }

  /** Turns it on; everything that falls due happens at its time. */
  turn(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const [next] = [...this.#planned].filter(({ at }) => at <= end).sort((left, right) => left.at - right.at)
      if (next === undefined) break
      this.#planned.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.work()
    }
    this.#now = end
  }
}

/** The links of a router under test, and what it told its controllers. */
export function routerUnderTest(settings: Partial<LinksSettings> = {}) {
  const clock = new TurnedClock()
  const told: FromRouter[] = []
  const tell = (_controllerId: string | undefined, message: FromRouter) => void told.push(message)
  const forwarder = new Forwarder({ routerId: 'played', now: clock.now, timer: clock.timer, epoch: clock.now, tell })
  const traces = new ChannelTraces('own', tell)
  const links = new Links({
    routerId: 'own',
    credentials: () => ({ key: '', clientCert: '', serverCert: '', ca: '' }),
    listeners: [],
    forwarder,
    traces,
    clock,
    random: () => 0.5,
    tell: (message) => void told.push(message),
    verify: async (routerId, fingerprint) => fingerprint === fingerprintOf(routerId),
    ...settings,
  })
  return { clock, told, forwarder, links, traces }
}

/** The certificate that a played router shows. */
function certificateOf(routerId: string): Uint8Array {
  return Buffer.from(`certificate of ${routerId}`)
}

function fingerprintOf(routerId: string): string {
  return createHash('sha1').update(certificateOf(routerId)).digest('hex')
}

/** A router that is played on a link: it says whatever a test wants. */
export class PlayedPeer {
  readonly received: Frame[] = []
  readonly #own: Duplex
  isClosed = false

  constructor(links: Links, certificateFor: string) {
    const [own, theirs] = duplexPair()
    this.#own = own
    theirs.once('close', () => own.destroy())
    own.once('close', () => {
      this.isClosed = true
      theirs.destroy()
    })
    own.once('end', () => own.destroy())
    own.on('error', () => undefined)
    const reader = new FrameReader({ headers: 1e6, body: 1e9 })
    own.on('data', (bytes: Uint8Array) => this.received.push(...reader.push(bytes)))
    const chain = [certificateOf(certificateFor)]
    void links.accept({
      stream: theirs,
      chain,
      localAddress: 'tcp:127.0.0.1:1',
      remoteAddress: 'tcp:127.0.0.1:2',
      remoteHost: '127.0.0.1',
    })
  }

  /** Says hello, and waits for the answer: undefined where the socket was closed instead. */
  async hello(hello: Partial<LinkHello>): Promise<Frame | undefined> {
    const routerId = 'peer'
    const whole = { linkId: 'link', connectionId: 'connection', routerId, peerVersion: 'v2.0.0', binding: '' }
    const rest = { iteration: 1, meantRouterId: '', isGrouped: false, isFirst: true, socketType: '', secret: undefined }
    this.send(writeLinkHello({ ...whole, ...rest, ...hello }))
    await until(() => this.received.length > 0 || this.isClosed)
    return this.received.shift()
  }

  send(frame: Frame): void {
    this.raw(Buffer.concat(encodeFrame(frame)))
  }

  raw(bytes: Uint8Array): void {
    if (!this.#own.destroyed) this.#own.write(bytes)
  }

  close(): void {
    this.#own.destroy()
  }
}

/** Waits, within two seconds, until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 2000
  while (!isSo()) {
    if (Date.now() > end) throw new Error('waited in vain')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
