import { BoundedMap } from '../../../domain/bounded-map.ts'
import { discoveryUrl, type ExternalProvider, readProvider } from '../../../domain/oidc/external-provider.ts'
import type { EngineContext } from '../../context/context.ts'

/** How long a description is believed, and how long one that could not be fetched is not asked for again, in ms. */
const FRESH_MS = 300_000
const RETRY_MS = 5_000
const MAX_REMEMBERED = 200

interface Known {
  readonly provider: Promise<ExternalProvider | undefined>
  readonly askedAt: number
  until: number
}

/** What external providers tell of themselves, as of a short while ago: however many people log in, each is asked once. */
export class KnownProviders {
  readonly #context: Pick<EngineContext, 'clock' | 'keySets'>
  readonly #known = new BoundedMap<string, Known>(MAX_REMEMBERED)

  constructor(context: Pick<EngineContext, 'clock' | 'keySets'>) {
    this.#context = context
  }

  /** The provider at a base URL; `undefined` for one that cannot be reached, or is none. */
  async at(baseUrl: string): Promise<ExternalProvider | undefined> {
    const now = this.#context.clock.now()
    const known = this.#known.get(baseUrl)
    // What was asked ahead of now, before the clock was put back, was asked long ago.
    if (known !== undefined && known.askedAt <= now && now < known.until) return known.provider
    const asked: Known = { provider: this.#ask(baseUrl), askedAt: now, until: now + FRESH_MS }
    this.#known.set(baseUrl, asked)
    const provider = await asked.provider
    if (provider === undefined) asked.until = now + RETRY_MS
    return provider
  }

  async #ask(baseUrl: string): Promise<ExternalProvider | undefined> {
    const url = discoveryUrl(baseUrl)
    if (this.#context.keySets.refusal(url) !== undefined) return undefined
    return this.#context.keySets.fetch(url).then(readProvider, () => undefined)
  }
}
