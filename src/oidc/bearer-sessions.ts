import { isMissingBetweenRequests } from '../credentials/api-session-validity.ts'
import type { Caller } from '../kernel/context/call.ts'
import type { ApiSessions } from '../login/api-sessions.ts'
import { isTakenBack } from '../login/revocations.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { holdsKey } from './proof-of-possession.ts'
import type { ReadToken } from './token-claims.rules.ts'
import type { ProviderContext } from './token-issue.ts'
import { judgePresented, type TokenSessionPorts, VerifiedTokens } from './token-sessions.ts'

/** The ports by which an access token is taken. */
interface BearerPorts extends TokenSessionPorts, Pick<ProviderContext, 'pki'> {}

/** Why no access token among the bearer tokens of a request was good. */
export type BearerProblem = 'missing' | 'invalid' | 'expired'

interface AccessToken {
  readonly text: string
  readonly read: ReadToken
}

/** Finds out who calls with an access token (RFC 6750) instead of the secret of an API session. */
export class BearerSessions {
  readonly #context: BearerPorts
  readonly #apiSessions: ApiSessions
  readonly #verified = new VerifiedTokens()

  constructor(context: BearerPorts, apiSessions: ApiSessions) {
    this.#context = context
    this.#apiSessions = apiSessions
  }

  /**
   * The caller whose access token is among the bearer tokens of a request, or what is wrong with them. The others may prove
   * a second factor. What revokes a token, ends its session or shuts its identity out counts from the next request on, in
   * every process: it is read with each.
   */
  async resolve(tokens: readonly string[], clientCertificates: readonly Uint8Array[]): Promise<Caller | BearerProblem> {
    const found = await this.#accessToken(tokens)
    if (typeof found === 'string') return found
    const caller = await this.#callerBy(found, tokens, clientCertificates)
    if (caller === undefined) this.#verified.delete(this.#digestOf(found.text))
    return caller ?? 'invalid'
  }

  /**
   * Reads a good access token, wherever it is presented from; `undefined` for any other, and while its session lacks a factor.
   * A signer that was proved in the login counts: no other token comes along here.
   */
  async read(text: string): Promise<ReadToken | undefined> {
    const found = await this.#accessToken([text])
    if (typeof found === 'string') return undefined
    const caller = await this.#callerOf(found, [])
    if (caller === undefined) return undefined
    const isMissing = await this.#context.storage.read((tx) =>
      isMissingBetweenRequests(this.#context, tx, caller.apiSession, caller),
    )
    return isMissing ? undefined : found.read
  }

  async #callerBy(
    found: AccessToken,
    tokens: readonly string[],
    clientCertificates: readonly Uint8Array[],
  ): Promise<Caller | undefined> {
    if (!(await holdsKey(this.#context, found.read, clientCertificates))) return undefined
    return this.#callerOf(
      found,
      tokens.filter((token) => token !== found.text),
    )
  }

  #callerOf({ text, read }: AccessToken, others: readonly string[]): Promise<Caller | undefined> {
    const isGood = async (tx: ReadTransaction) => !(await isTakenBack(tx, read, this.#context.clock.now()))
    return this.#apiSessions.resolveToken(read, text, others, isGood)
  }

  async #accessToken(tokens: readonly string[]): Promise<AccessToken | BearerProblem> {
    const now = this.#context.clock.now()
    let problem: BearerProblem = 'missing'
    for (const text of tokens) {
      const digest = this.#digestOf(text)
      const known = this.#verified.get(digest, now)
      if (known !== undefined) return { text, read: known }
      const presented = await judgePresented(this.#context, text, now)
      if (presented.outcome === 'invalid' || presented.outcome === 'expired') problem = presented.outcome
      if (presented.outcome !== 'valid' || presented.token.type !== 'a') continue
      this.#verified.add(digest, presented.token)
      return { text, read: presented.token }
    }
    return problem
  }

  #digestOf(token: string): string {
    return this.#context.digest.sha256(token)
  }
}
