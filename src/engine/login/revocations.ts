import { invalidField, notFound } from '../../domain/errors.ts'
import { identities } from '../../resources/identities.ts'
import type { RecordOf } from '../../resources/resource.ts'
import { revocations } from '../../resources/revocations.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { newRecord } from '../records/new-record.ts'

type Revocation = RecordOf<typeof revocations>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
/** Session tokens live longest of all: a year. */
const LONGEST_TOKEN_MS = 365 * 24 * 60 * 60 * 1000

/** Revoked tokens, by the id of what they were issued for. */
export class Revocations {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Revokes the tokens of an identity, of an API session, or one token by its `jti`, until none of them can be good any
   * more; again, when it was done before. Errors: `NOT_FOUND` for an identity, `COULD_NOT_VALIDATE` (`id`) for an id of
   * the others that is no UUID.
   */
  async create(call: Call, request: Pick<Revocation, 'id' | 'type' | 'tags'>): Promise<Revocation> {
    const { id, type, tags } = request
    if (type !== 'IDENTITY' && !UUID.test(id)) throw invalidField('id', 'must be a valid UUID v4', id)
    const now = this.#context.clock.now()
    const revocation = newRecord(id, now, { type, tags, expiresAt: now + LONGEST_TOKEN_MS })
    await this.#context.writes.run(call, async (tx) => {
      if (type === 'IDENTITY' && (await tx.collection(identities).get(id)) === undefined) throw notFound('identity', id)
      await tx.collection(revocations).delete(id)
      await tx.collection(revocations).insert(revocation)
    })
    return revocation
  }
}
