import { vi } from 'vitest'
import type { Fault } from './mortal-identity.ts'

const START = Date.UTC(2026, 0, 1)
const PAGE = '../../adapters/tools/explorer/page/session'
const LIFE_MS = 1_800_000
/** Milliseconds for which a provider gives the same answer to a refresh token again. */
const AGAIN_MS = 10_000

interface Tokens {
  readonly kind: 'tokens'
  readonly accessToken: string
  readonly refreshToken: string
  readonly goodUntil: number
}

interface LockOptions {
  readonly signal?: AbortSignal
  readonly steal?: boolean
}

/** How a request of the page went on. */
export type Outcome = 'signed' | 'refused' | undefined

/** One tab of the explorer with its provider, whose answers fail or hang, and the other tabs of the browser, which may sleep. */
export class PlayedPage {
  faultOf: (step: { readonly name: string }) => Fault | undefined = () => undefined
  /** Until when another tab has the turn; a tab that sleeps keeps it for ever. */
  #othersUntil = 0
  #isOver = false
  #wasSigned = false
  #issued = 0
  #used: { readonly token: string; readonly answer: object; readonly until: number }[] = []
  #current = 'refresh 0'
  #renewed: (credential: Tokens) => Promise<Tokens> = async (credential) => credential
  #held: () => Tokens | undefined = () => undefined

  static async open(): Promise<PlayedPage> {
    const page = new PlayedPage()
    vi.setSystemTime(START)
    vi.stubGlobal('location', new URL('https://controller.test/explorer/'))
    vi.stubGlobal('document', { baseURI: 'https://controller.test/explorer/', querySelector: () => null })
    vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined, removeItem: () => undefined })
    vi.stubGlobal('navigator', { locks: { request: page.#turn } })
    vi.stubGlobal('fetch', page.#provider)
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const ends = new AbortController()
      setTimeout(() => ends.abort(new DOMException('too slow', 'TimeoutError')), ms)
      return ends.signal
    })
    vi.resetModules()
    // Types of a browser are not those of tests.
    const { keepCredential, heldCredential } = await import(`${PAGE}/credential.ts`)
    const { renewed } = await import(`${PAGE}/renewal.ts`)
    page.#renewed = renewed
    page.#held = heldCredential
    keepCredential({ kind: 'tokens', accessToken: 'access 0', refreshToken: 'refresh 0', goodUntil: START + LIFE_MS })
    return page
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the page has tokens that last. */
  get isSigned(): boolean {
    return (this.#held()?.goodUntil ?? 0) > Date.now()
  }

  /** Whether the page had such tokens when the last request went on. */
  get wasSigned(): boolean {
    return this.#wasSigned
  }

  /** Lets another tab have the turn for some time. */
  othersHaveTheTurn(ms: number): void {
    this.#othersUntil = Math.max(this.#othersUntil, Date.now() + ms)
  }

  /** Sends a request; answers a function that tells how it went on. */
  request(): () => Outcome {
    let outcome: Outcome
    const held = this.#held()
    if (held === undefined) throw new Error('a page without a login')
    this.#renewed(held).then(
      () => {
        outcome = 'signed'
        this.#wasSigned = this.isSigned
      },
      () => {
        outcome = 'refused'
        this.#wasSigned = this.isSigned
      },
    )
    return () => outcome
  }

  /** Locks of a browser: with options, or without. */
  readonly #turn = async (_name: string, ...rest: readonly (LockOptions | (() => Promise<void>))[]) => {
    const work = rest.find((one) => typeof one === 'function')
    const options: LockOptions = rest.find((one) => typeof one === 'object') ?? {}
    if (options.steal) this.#othersUntil = 0
    const left = this.#othersUntil - Date.now()
    if (left > 0) {
      await new Promise<void>((resolve, reject) => {
        if (Number.isFinite(left)) setTimeout(resolve, left)
        options.signal?.addEventListener('abort', () => reject(options.signal?.reason))
      })
    }
    await work?.()
  }

  readonly #provider = async (_url: string, { body, signal }: { body: URLSearchParams; signal: AbortSignal }) => {
    const fault = this.faultOf({ name: 'token' })
    if (fault?.isDone !== true) await this.#suffer(fault, signal)
    const answer = this.#exchanged(String(body.get('refresh_token')))
    if (fault?.isDone === true) await this.#suffer(fault, signal)
    return answer === undefined ? new Response('{}', { status: 400 }) : Response.json(answer)
  }

  /** Tokens for a refresh token; undefined once it was used up, which ends the session. */
  #exchanged(token: string): object | undefined {
    const known = this.#used.find((one) => one.token === token && one.until > Date.now())
    if (known !== undefined && !this.#isOver) return known.answer
    if (this.#isOver || token !== this.#current) {
      this.#isOver = true
      return undefined
    }
    this.#issued += 1
    this.#current = `refresh ${this.#issued}`
    const members = { access_token: `access ${this.#issued}`, refresh_token: this.#current, expires_in: LIFE_MS / 1000 }
    this.#used.push({ token, answer: members, until: Date.now() + AGAIN_MS })
    return members
  }

  async #suffer(fault: Fault | undefined, signal: AbortSignal): Promise<void> {
    if (fault === undefined) return
    if (fault.way !== 'hangs') throw new TypeError('fetch failed')
    await new Promise<void>((resolve, reject) => {
      if (Number.isFinite(fault.forMs)) setTimeout(resolve, fault.forMs)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  }
}
