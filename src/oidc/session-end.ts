import { textClaim } from '../credentials/signers/claims.rules.ts'
import { judgeToken } from '../credentials/signing-keys.ts'
import { SYSTEM_CALL } from '../kernel/context/call.ts'
import { deleteBatch, endReasonsOf } from '../kernel/records/deletion.ts'
import { type WriteBatch, writeInBatches } from '../kernel/records/write-batches.ts'
import { apiSessions } from '../login/api-session.resource.ts'
import type { Revocations } from '../login/revocations.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { judgePresented, type TokenSessionPorts } from './token-sessions.ts'

/** Takes tokens back, and ends sessions, on behalf of the holder of a token of them. */
export class SessionEnd {
  readonly #context: TokenSessionPorts
  readonly #revocations: Revocations

  constructor(context: TokenSessionPorts, revocations: Revocations) {
    this.#context = context
    this.#revocations = revocations
  }

  /**
   * Takes a token back (RFC 7009): an access token by itself, a refresh token with its whole session, and so an access token
   * after many others of the session. Nothing happens for any other text, nor the second time.
   */
  async revoke(text: string): Promise<void> {
    const presented = await judgePresented(this.#context, text, this.#context.clock.now())
    if (presented.outcome !== 'valid') return
    const { type, jti, expiresAt, session } = presented.token
    const isEnough = type === 'a' && (await this.#revocations.revokeToken(session.z_asid, jti, expiresAt * 1000))
    if (!isEnough) await this.#end(session.z_asid)
  }

  /** Reports whether a text is an id token, or another token of a session, of this provider; it may have expired since. */
  async isOurs(text: string): Promise<boolean> {
    return (await this.#sessionOf(text)) !== undefined
  }

  /** Ends the session for which a token was issued, also one that expired since. Nothing happens for any other text. */
  async endByHint(text: string): Promise<void> {
    const id = await this.#sessionOf(text)
    if (id !== undefined) await this.#end(id)
  }

  async #sessionOf(text: string): Promise<string | undefined> {
    const judgement = await judgeToken(this.#context, text, this.#context.clock.now())
    if (judgement.outcome !== 'valid' && judgement.outcome !== 'expired') return undefined
    const { claims } = judgement
    const isOurs = this.#context.provider.issuers.includes(textClaim(claims, 'iss') ?? '')
    return isOurs ? textClaim(claims, 'z_asid') : undefined
  }

  async #end(id: string): Promise<void> {
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      const session = await tx.collection(apiSessions).get(id)
      return session?.tokensExpireAt == null ? undefined : deleteBatch(tx, apiSessions, id, batch)
    }
    await writeInBatches(this.#context, SYSTEM_CALL, work, endReasonsOf(apiSessions))
  }
}
