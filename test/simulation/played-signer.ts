import { type CryptoKey, exportJWK, SignJWT } from 'jose'
import type { ControllerOptions } from 'portcullis'
import type { Choices } from './choices.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { SimulatedTime } from './simulated-time.ts'

/** The most milliseconds of an answer. */
const ANSWERED_WITHIN_MS = 50
/** Seconds for which a token is good. */
const TOKEN_SECONDS = 300
const ISSUER = 'https://company.test'
const AUDIENCE = 'network'
const KEY = { kid: 'company', alg: 'ES256' }

/** An external signer, whose tokens say to which groups a person belongs. */
export class PlayedSigner {
  /** Milliseconds after which unused logins end in its network. */
  readonly loginsLastMs: number
  /** The id of the signer in the network. */
  id = ''
  isAway = false
  readonly #time: SimulatedTime
  readonly #choices: Choices
  #keySet = ''
  #privateKey: CryptoKey | undefined

  constructor(time: SimulatedTime, choices: Choices, loginsLastMs: number) {
    this.#time = time
    this.#choices = choices
    this.loginsLastMs = loginsLastMs
  }

  /** Makes its key, and the signer in the network. */
  async begin(process: SimulatedProcess): Promise<void> {
    const curve = { name: 'ECDSA', namedCurve: 'P-256' }
    const { privateKey, publicKey } = await crypto.subtle.generateKey(curve, true, ['sign', 'verify'])
    this.#privateKey = privateKey
    this.#keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), ...KEY }] })
    const created = await process.call('POST', '/external-jwt-signers', {
      ...{ name: 'company', issuer: ISSUER, audience: AUDIENCE, enabled: true, jwksEndpoint: `${ISSUER}/keys` },
      ...{ claimsProperty: '/sub', useExternalId: false, attributeClaimsSelector: '/groups' },
    })
    this.id = String(Object(created).id)
  }

  /** Its keys as a process fetches them. */
  at(state: { readonly isAlive: boolean }): NonNullable<ControllerOptions['keySets']> {
    const passed = () =>
      new Promise<void>((resolve) => this.#time.after(this.#choices.below(ANSWERED_WITHIN_MS), resolve))
    return {
      refusal: () => undefined,
      fetch: async () => {
        await passed()
        if (this.isAway) throw new Error('the signer is away')
        return state.isAlive ? this.#keySet : new Promise<never>(() => undefined)
      },
    }
  }

  /** A token that names an identity and its groups. */
  async token(identity: string, groups: readonly string[]): Promise<string> {
    if (this.#privateKey === undefined) throw new Error('the signer has no key yet')
    const now = Math.floor(this.#time.now / 1000)
    const claims = { sub: identity, iss: ISSUER, aud: AUDIENCE, iat: now, exp: now + TOKEN_SECONDS, groups }
    return new SignJWT(claims).setProtectedHeader(KEY).sign(this.#privateKey)
  }
}
