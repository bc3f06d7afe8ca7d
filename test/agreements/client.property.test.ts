import fc from 'fast-check'
import { createManagementClient } from 'portcullis/client'
import { fakeClock } from 'portcullis/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import type { Fault } from './mortal-identity.ts'
import { MortalSteps } from './mortal-steps.ts'
import { anyFaultAt, faultsAt } from './placed-fault.ts'

const MINUTE_MS = 60_000
/** Steps by which a client and its controller come to agree on a session. */
const AGREEMENTS = ['login', 'request', 'rest']
const DEEDS = ['call', 'three calls', 'gives up', 'session ends', 'waits'] as const

const ENDED = { status: 401, headers: { 'www-authenticate': 'zt-session realm="zt-session"' } }

/** A call of the client, which its caller may give up. */
interface PendingCall {
  readonly abort: AbortController
  hasSettled: boolean
}

/** A client over a played controller whose sessions end, and whose answers fail or hang. */
class PlayedClient {
  readonly clock = fakeClock(0)
  faultOf: (step: { readonly name: string }) => Fault | undefined = () => undefined
  readonly logins: AbortSignal[] = []
  readonly calls: PendingCall[] = []
  #session = ''
  readonly #steps = new MortalSteps(
    {
      clock: this.clock,
      elapse: async (ms) => {
        this.clock.advance(ms)
        await vi.advanceTimersByTimeAsync(ms)
      },
    },
    () => new Promise((resolve) => setImmediate(resolve)),
  )
  readonly #client = createManagementClient({
    baseUrl: 'https://controller.test',
    login: (signal) => {
      this.logins.push(signal)
      return this.#take('login', async () => {
        this.#session = `session ${this.logins.length}`
        return this.#session
      })
    },
    fetch: (request) =>
      this.#take('request', async () => {
        if (request.headers.get('zt-session') === this.#session) return new Response('{"data":[],"meta":{}}')
        // The rest of a refusal may hang or fail like everything else.
        const cancel = () => this.#take('rest', async () => undefined)
        return new Response(new ReadableStream({ cancel }), ENDED)
      }),
  })

  call(): PendingCall {
    const call: PendingCall = { abort: new AbortController(), hasSettled: false }
    this.calls.push(call)
    const settled = () => {
      call.hasSettled = true
    }
    this.#client.call('GET /services', { signal: call.abort.signal }).then(settled, settled)
    return call
  }

  does(deed: (typeof DEEDS)[number]): void {
    if (deed === 'call') this.call()
    if (deed === 'three calls') for (let left = 3; left > 0; left -= 1) this.call()
    if (deed === 'gives up') this.calls.find(({ hasSettled }) => !hasSettled)?.abort.abort(new Error('too slow'))
    if (deed === 'session ends') this.#session = ''
  }

  elapse(ms: number): Promise<void> {
    return this.#steps.elapse(ms)
  }

  async succeeds(): Promise<boolean> {
    let hasSucceeded = false
    const succeeded = () => {
      hasSucceeded = true
    }
    this.#client.call('GET /services').then(succeeded, () => undefined)
    await this.elapse(1)
    return hasSucceeded
  }

  #take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const fault = this.faultOf({ name })
    const given = fault?.way === 'dies' ? ({ ...fault, way: 'fails' } as const) : fault
    const ends = { kill: () => undefined, failure: () => new TypeError('fetch failed') }
    return this.#steps.take({ isDead: false }, given, work, ends)
  }
}

it(
  'a client is served again at once, whatever login or request failed or hangs, and whoever gave up',
  async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...DEEDS), { minLength: 1, maxLength: 8 }),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 5 }),
        async (deeds, faults) => {
          const played = new PlayedClient()
          played.faultOf = faultsAt(faults)
          for (const deed of deeds) {
            played.does(deed)
            await played.elapse(deed === 'waits' ? 20_000 : 10)
          }
          played.faultOf = () => undefined
          for (const { abort } of played.calls) abort.abort(new Error('too slow'))
          await played.elapse(1)
          expect(played.calls.every(({ hasSettled }) => hasSettled)).toBe(true)
          const before = played.logins.length
          expect(await played.succeeds()).toBe(true)
          expect(played.logins.length - before).toBeLessThanOrEqual(1)
          // A login that ended the session of a later one is over by now.
          await played.elapse(2 * MINUTE_MS)
          expect(await played.succeeds()).toBe(true)
        },
      ),
      runs(200, 50),
    )
  },
  patience(120_000),
)
