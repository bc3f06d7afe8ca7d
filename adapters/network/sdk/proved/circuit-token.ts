import type { JSONWebKeySet } from 'jose'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import {
  type CircuitParties,
  circuitTokenIn,
  type DirectEnd,
  issuerKeys,
  partiesIn,
  partyProblem,
} from '../../../../src/proved-ends.ts'

/** Asks a controller that the identity trusts; a controller is known by its origin. */
export interface TrustedControllers {
  /** Whether a controller is one of the network. */
  knows(origin: string): Promise<boolean>
  /** The answer of a controller, as JSON. Rejects where none comes. */
  read(url: string): Promise<unknown>
}

/** Milliseconds for which keys of a controller are kept: a key that it withdrew counts this long. */
const KEPT_MS = 60_000
/** Milliseconds between two questions for a key that is not known. */
const ASKED_AGAIN_MS = 1000
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA']

/** The tokens of circuits, by the keys of the controllers that signed them. */
export class CircuitTokens {
  readonly #controllers: TrustedControllers
  readonly #keys = new Map<string, { readonly at: number; readonly set: Promise<JSONWebKeySet> }>()

  constructor(controllers: TrustedControllers) {
    this.#controllers = controllers
  }

  /** The parties of a circuit, by the token among the items that an end got; a text is the reason why the token is invalid. */
  async parties(items: ReadonlyMap<number, Uint8Array>, end: DirectEnd): Promise<CircuitParties | string> {
    const token = circuitTokenIn(items)
    if (token === undefined) return 'there is no token'
    const claims = await this.#verified(token)
    if (typeof claims === 'string') return claims
    const parties = partiesIn(claims)
    return typeof parties === 'string' ? parties : (partyProblem(parties, end) ?? parties)
  }

  async #verified(token: string): Promise<Readonly<Record<string, unknown>> | string> {
    const { decodeJwt } = await import('jose')
    let issuer: ReturnType<typeof issuerKeys>
    try {
      issuer = issuerKeys(decodeJwt(token).iss ?? '')
    } catch {
      return 'its token cannot be read'
    }
    if (issuer === undefined || !(await this.#controllers.knows(issuer.origin))) {
      return 'its token names a controller that this identity does not know'
    }
    const held = this.#keys.get(issuer.keys)
    const verdict = await this.#judged(token, issuer.keys)
    if (verdict !== UNKNOWN_KEY || held === undefined) return verdict
    // The controller has another key since; also a token of its first second counts.
    const wait = ASKED_AGAIN_MS - (runtime.monotonic() - held.at)
    if (wait > 0) await new Promise<void>((resolve) => void runtime.timer(wait, resolve, true))
    if (this.#keys.get(issuer.keys) === held) this.#keys.delete(issuer.keys)
    return this.#judged(token, issuer.keys)
  }

  async #judged(token: string, url: string): Promise<Readonly<Record<string, unknown>> | string> {
    const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
    try {
      const set = createLocalJWKSet(await this.#keysAt(url))
      const options = {
        algorithms: ALGORITHMS,
        currentDate: new Date(runtime.now()),
        requiredClaims: ['exp', 'iss', 'aud'],
      }
      return (await jwtVerify(token, set, options)).payload
    } catch (error) {
      if (error instanceof errors.JWTExpired) return 'its token has expired: clocks must agree within three minutes'
      if (error instanceof errors.JWKSNoMatchingKey) return UNKNOWN_KEY
      return `its token does not hold: ${error instanceof Error ? error.message : String(error)}`
    }
  }

  #keysAt(url: string): Promise<JSONWebKeySet> {
    const known = this.#keys.get(url)
    if (known !== undefined && runtime.monotonic() - known.at < KEPT_MS) return known.set
    // The library judges the form of the set.
    const set = this.#controllers.read(url) as Promise<JSONWebKeySet>
    this.#keys.set(url, { at: runtime.monotonic(), set })
    set.catch(() => {
      if (this.#keys.get(url)?.set === set) this.#keys.delete(url)
    })
    return set
  }
}

const UNKNOWN_KEY = 'its token is signed by a key that its controller does not publish'
