import type { z } from 'zod'
import { refuseAdminChange } from '../authority/containment.ts'
import { notFound } from '../base/errors.ts'
import { MINUTE_MS } from '../base/time.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { endApiSessions, endLoginsUnderWay } from '../credentials/login-basis.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { NO_FAILED_ATTEMPTS } from '../facts/credentials/lockout.rules.ts'
import { DisableRequest, identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { endReasonsOf } from '../records/deletion.ts'
import { type MORE, type WriteBatch, writeInBatches } from '../records/write-batches.ts'

/** Disables identities and enables them again. Only admins do so to admins. */
export class IdentityState {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Disables an identity for `durationMinutes`, indefinitely when 0 or less, and ends its API sessions.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  async disable(call: Call, id: string, request: z.input<typeof DisableRequest>): Promise<void> {
    const { durationMinutes } = readRequest(DisableRequest, request)
    const now = this.#context.clock.now()
    const disabledUntil = durationMinutes > 0 ? now + durationMinutes * MINUTE_MS : null
    await this.#change(call, id, async (tx, identity, batch) => {
      await tx.collection(identities).update({ ...identity, disabledAt: now, disabledUntil, updatedAt: now })
      await endLoginsUnderWay(tx, id)
      return endApiSessions(tx, 'identityId', id, batch)
    })
  }

  /**
   * Enables an identity and unlocks its password. The next answer of a directory of the host may disable it again.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  async enable(call: Call, id: string): Promise<void> {
    const now = this.#context.clock.now()
    await this.#change(call, id, async (tx, identity) => {
      const enabled = { disabledAt: null, disabledUntil: null, directoryDisabledAt: null, updatedAt: now }
      await tx.collection(identities).update({ ...identity, ...enabled })
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
      batch: WriteBatch,
    ) => Promise<undefined | typeof MORE>,
  ): Promise<void> {
    readId(id)
    const work = async (tx: WriteTransaction, batch: WriteBatch) => {
      const identity = await tx.collection(identities).get(id)
      if (identity === undefined) throw notFound('identity', id)
      refuseAdminChange(call, identity)
      return change(tx, identity, batch)
    }
    await writeInBatches(this.#context, call, work, endReasonsOf(apiSessions))
  }
}
