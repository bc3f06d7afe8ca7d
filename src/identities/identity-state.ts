import type { z } from 'zod'
import { notFound } from '../../domain/errors.ts'
import { equals } from '../../domain/filter/index.ts'
import { NO_FAILED_ATTEMPTS } from '../../domain/login/lockout.ts'
import type { WriteTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { DisableRequest } from '../../resources/identities/identity-requests.ts'
import { apiSessions } from '../../resources/login/api-sessions.ts'
import { authRequests } from '../../resources/login/auth-requests.ts'
import { authenticators } from '../../resources/login/authenticators.ts'
import { readId, readRequest } from '../../resources/requests/read-body.ts'
import { refuseAdminChange } from '../authority/containment.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { deleteEach, endReasonsOf } from '../records/deletion.ts'
import { type MORE, type Part, writeInParts } from '../records/parts.ts'

const MINUTE_MS = 60_000

/** Shuts identities out and lets them in again. Only admins do it to admins. */
export class IdentityState {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Disables an identity for so many minutes, indefinitely when 0 or less, and ends its API sessions.
   *
   * @throws {ControllerError} NOT_FOUND when there is none of the id.
   */
  async disable(call: Call, id: string, request: z.input<typeof DisableRequest>): Promise<void> {
    const { durationMinutes } = readRequest(DisableRequest, request)
    const now = this.#context.clock.now()
    const disabledUntil = durationMinutes > 0 ? now + durationMinutes * MINUTE_MS : null
    await this.#change(call, id, async (tx, identity, part) => {
      await tx.collection(identities).update({ ...identity, disabledAt: now, disabledUntil, updatedAt: now })
      await endLoginsUnderWay(tx, id)
      return endApiSessions(tx, 'identityId', id, part)
    })
  }

  /**
   * Enables an identity and unlocks its password.
   *
   * @throws {ControllerError} NOT_FOUND when there is none of the id.
   */
  async enable(call: Call, id: string): Promise<void> {
    const now = this.#context.clock.now()
    await this.#change(call, id, async (tx, identity) => {
      await tx.collection(identities).update({ ...identity, disabledAt: null, disabledUntil: null, updatedAt: now })
      const { items } = await tx.collection(authenticators).find({ where: equals('identityId', id) })
      for (const authenticator of items.filter(({ lockedAt }) => lockedAt !== null)) {
        await tx.collection(authenticators).update({ ...authenticator, ...NO_FAILED_ATTEMPTS })
      }
      return undefined
    })
  }

  async #change(
    call: Call,
    id: string,
    change: (
      tx: WriteTransaction,
      identity: RecordOf<typeof identities>,
      part: Part,
    ) => Promise<undefined | typeof MORE>,
  ): Promise<void> {
    readId(id)
    const work = async (tx: WriteTransaction, part: Part) => {
      const identity = await tx.collection(identities).get(id)
      if (identity === undefined) throw notFound('identity', id)
      refuseAdminChange(call, identity)
      return change(tx, identity, part)
    }
    await writeInParts(this.#context, call, work, endReasonsOf(apiSessions))
  }
}

/** Ends the API sessions of an identity or an authenticator, with their service sessions, as far as a part goes. */
export function endApiSessions(
  tx: WriteTransaction,
  of: 'identityId' | 'authenticatorId',
  id: string,
  part: Part,
): Promise<undefined | typeof MORE> {
  return deleteEach(tx, apiSessions, equals(of, id), part)
}

/** Ends the logins of an identity that are under way, of which there are few: none of their codes is good any more. */
export async function endLoginsUnderWay(tx: WriteTransaction, identityId: string): Promise<void> {
  for (const id of await tx.collection(authRequests).findIds({ where: equals('identityId', identityId) })) {
    await tx.collection(authRequests).delete(id)
  }
}
