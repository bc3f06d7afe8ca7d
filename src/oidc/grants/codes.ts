import { SYSTEM_CALL } from '../../context/call.ts'
import { apiSessions } from '../../facts/login/api-session.resource.ts'
import { authRequests } from '../../facts/oidc/auth-request.resource.ts'
import type { ClientRequest } from '../../facts/oidc/auth-request.rules.ts'
import type { ReadTransaction, WriteTransaction } from '../../ports/record-storage.ts'
import { deleteBatch, endReasonsOf } from '../../records/deletion.ts'
import { type WriteBatch, writeInBatches } from '../../records/write-batches.ts'
import type { AuthRequest, AuthRequests } from '../auth-requests.ts'
import { isComplete, missingOfRequest, policyOf } from '../request-totp.ts'
import type { ProviderContext } from '../token-issue.ts'

/** Valid codes of one login at once: a client that asks again gets a new one, and the sixth voids the first. */
const MAX_CODES = 5

/** The end of a login: with a code for the client, or without one while a factor is missing. */
export interface FinishedLogin {
  readonly request: ClientRequest
  readonly code: string | undefined
}

/** Authorization codes: a client gets one for a completed login, and exchanges it for tokens. */
export class Codes {
  readonly #context: ProviderContext
  readonly #requests: AuthRequests

  constructor(context: ProviderContext, requests: AuthRequests) {
    this.#context = context
    this.#requests = requests
  }

  /** Issues a code for a request without missing factors. `undefined` for an unknown request. */
  async finish(id: string): Promise<FinishedLogin | undefined> {
    const { digest, random, writes } = this.#context
    const code = `${id}.${random.uuid()}`
    return writes.run(SYSTEM_CALL, async (tx): Promise<FinishedLogin | undefined> => {
      const found = await this.#requests.find(tx, id)
      if (found === undefined) return undefined
      const authPolicy = found.login === null ? undefined : await policyOf(tx, found.login.identityId)
      const isMissing =
        found.login === null ||
        authPolicy === undefined ||
        !isComplete(await missingOfRequest(this.#context, tx, found.login, authPolicy))
      if (isMissing) return { request: found.request, code: undefined }
      const others = found.codeDigests.slice(0, MAX_CODES - 1)
      await tx.collection(authRequests).update({ ...found, codeDigests: [digest.sha256(code), ...others] })
      return { request: found.request, code }
    })
  }

  /** The request of a code; `undefined` when the code was used, or its time is over. */
  async requestOf(code: string): Promise<AuthRequest | undefined> {
    const [id = ''] = code.split('.')
    const found = await this.#context.storage.read((tx) => this.#requests.find(tx, id))
    return found?.codeDigests.includes(this.#context.digest.sha256(code)) ? found : undefined
  }

  /**
   * The id of the session that a code begins. It follows from the code, so that presenting the code again names the
   * session, in every process and at any time. Only a holder of the code can compute it.
   */
  sessionIdOf(code: string): string {
    const hex = this.#context.digest.sha256(`session of ${code}`)
    // The form of a random UUID, which clients and routers expect; the code is as random.
    const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }

  /** Makes the codes of a request void, and ends the session that the code at hand was exchanged for before. */
  async burn(code: string, request: AuthRequest | undefined): Promise<void> {
    const apiSessionId = this.sessionIdOf(code)
    const isUnknown = (tx: ReadTransaction) =>
      tx
        .collection(apiSessions)
        .get(apiSessionId)
        .then((it) => it === undefined)
    // Any client may present any text, so nothing is written for unknown text.
    if (request === undefined && (await this.#context.storage.read(isUnknown))) return
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      if (request !== undefined) await tx.collection(authRequests).delete(request.id)
      return deleteBatch(tx, apiSessions, apiSessionId, batch)
    }
    await writeInBatches(this.#context, SYSTEM_CALL, work, endReasonsOf(apiSessions))
  }
}
