import type { z } from 'zod'
import { invalidField, notFound } from '../base/errors.ts'
import { DAY_MS } from '../base/time.ts'
import { type Call, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { changesTo, type RecordedChange } from '../context/recorded-changes.ts'
import type { RecordedWrite } from '../context/writes.ts'
import { endLoginsUnderWay } from '../credentials/login-basis.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { apiSessions } from '../facts/login/api-session.resource.ts'
import { RevocationCreation, revocations } from '../facts/login/revocation.resource.ts'
import { isRevoked } from '../facts/oidc/refresh-tokens.rules.ts'
import type { ReadToken } from '../facts/oidc/token-claims.rules.ts'
import { EpochMs, Id } from '../kernel/declaration/fields.ts'
import { readId, readRequest, readValue } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals, type Filter, ids } from '../kernel/filter/index.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { deleteEach, endReasonsOf } from '../records/deletion.ts'
import { requireQuota } from '../records/owner-quota.ts'
import { newRecord } from '../records/read-records.ts'
import { type WriteBatch, writeEachInParts, writeInBatches } from '../records/write-batches.ts'

/** The claims of a token by which its revocation is found. */
type TokenInQuestion = Pick<ReadToken, 'jti' | 'issuedAt'> & {
  readonly session: Pick<ReadToken['session'], 'z_asid' | 'sub'>
}

/** Reports whether a token is revoked at `now` (epoch ms): by itself, with its session, or with its identity. */
export async function isTakenBack(
  tx: ReadTransaction,
  { jti, issuedAt, session }: TokenInQuestion,
  now: number,
): Promise<boolean> {
  const named = [jti, session.z_asid, session.sub]
  const { items } = await tx.collection(revocations).find({ where: ids(named) })
  const issuedFor = { jti, issuedAt, apiSessionId: session.z_asid, identityId: session.sub }
  return isRevoked(issuedFor, items, now)
}

type Revocation = RecordOf<typeof revocations>

/** A UUID of any version, the nil one too, as deployed controllers read it: also in braces, as a URN, without hyphens. */
const UUID = /^(?:urn:uuid:)?\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i
/** How many tokens of one session are revoked one by one. A client revokes its last one when it logs out. */
const MAX_OF_SESSION = 16
/** Session tokens live longest of all: a year. */
const LONGEST_TOKEN_MS = 365 * DAY_MS

/** Revocations of tokens, by the id of a token, a session or an identity. */
export class Revocations {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Revokes the tokens of an identity, of an API session, or one token by its `jti`, until the last of them has
   * expired. A repeated revocation begins anew. Sessions that are made of tokens end with them. The id of the
   * revocation is the UUID in the form that tokens have.
   *
   * @throws {ControllerError} NOT_FOUND when there is no such identity.
   * @throws {ControllerError} COULD_NOT_VALIDATE (`id`) when the id of a session or token is no UUID.
   * @throws {ControllerError} COULD_NOT_VALIDATE (`identityId`) when the caller has as many as limits allow.
   */
  async create(call: Call, request: z.input<typeof RevocationCreation>): Promise<Revocation> {
    const { type, tags, ...named } = readRequest(RevocationCreation, request)
    const id = type === 'IDENTITY' ? named.id : asTokensHaveIt(named.id)
    const now = this.#context.clock.now()
    const expiresAt = now + LONGEST_TOKEN_MS
    // An identity has one revocation, and the host is responsible for its own.
    const identityId = call.by === 'caller' && type !== 'IDENTITY' ? call.caller.identity.id : null
    const revocation = newRecord(id, now, { type, tags, expiresAt, identityId, apiSessionId: null })
    await this.#context.writes.run(call, async (tx) => {
      if (type === 'IDENTITY' && (await tx.collection(identities).get(id)) === undefined) throw notFound('identity', id)
      if (type === 'IDENTITY') await endLoginsUnderWay(tx, id)
      const wasThere = await tx.collection(revocations).delete(id)
      if (!wasThere && identityId !== null) await requireRevocationQuota(this.#context, tx, identityId)
      await tx.collection(revocations).insert(revocation)
    })
    // From here on no token is valid; its session ends with as many writes as it takes.
    await writeInBatches(
      this.#context,
      SYSTEM_CALL,
      (tx, batch) => endTokenSessions(tx, type, id, batch),
      endReasonsOf(apiSessions),
    )
    return revocation
  }

  /**
   * Revokes one token of a session until it expires (epoch ms); a token that is revoked already stays so. Answers false, and revokes
   * nothing, when as many tokens of the session are revoked as are kept one by one: then the session has to end.
   */
  async revokeToken(apiSessionId: string, jti: string, expiresAt: number): Promise<boolean> {
    readId(apiSessionId, 'apiSessionId')
    readValue('jti', Id, jti)
    readValue('expiresAt', EpochMs, expiresAt)
    return this.#context.writes.run(SYSTEM_CALL, async (tx) => {
      // All tokens of a session that ended are revoked with it.
      if ((await tx.collection(apiSessions).get(apiSessionId)) === undefined) return true
      const others = await tx.collection(revocations).findIds({ where: equals('apiSessionId', apiSessionId) })
      if (others.length >= MAX_OF_SESSION && !others.includes(jti)) return false
      await this.#revoke(tx, jti, { type: 'JTI', expiresAt, identityId: null, apiSessionId })
      return true
    })
  }

  /**
   * Revokes the tokens of sessions that end, within the same write, for as long as an access token lasts: access tokens
   * are judged without looking for the session. The revocation of the session replaces those of its single tokens.
   */
  async revokeEnded(tx: WriteTransaction, changes: readonly RecordedChange[]): Promise<void> {
    const { clock, settings } = this.#context
    const now = clock.now()
    for (const { operation, id, before } of changesTo(changes, apiSessions)) {
      if (operation !== 'delete' || !before?.tokensExpireAt || before.tokensExpireAt <= now) continue
      const expiresAt = Math.min(before.tokensExpireAt, now + settings.accessTokenLifetimeMs)
      const { identityId } = before
      for (const single of await tx.collection(revocations).findIds({ where: equals('apiSessionId', id) })) {
        await tx.collection(revocations).delete(single)
      }
      await this.#revoke(tx, id, { type: 'API_SESSION', expiresAt, identityId, apiSessionId: null })
    }
  }

  /** Schedules the end of new revocations. */
  follow({ changes }: RecordedWrite): void {
    for (const { operation, id, after } of changesTo(changes, revocations)) {
      if (operation === 'insert' && after !== undefined) {
        this.#context.timetable.set('revocation', id, after.expiresAt)
      }
    }
  }

  /** Schedules the end of the revocations that the store holds from before. */
  async resume(): Promise<void> {
    const { items } = await this.#context.storage.read((tx) => tx.collection(revocations).find())
    for (const { id, expiresAt } of items) this.#context.timetable.set('revocation', id, expiresAt)
  }

  /** Deletes the revocations that concern no valid token any more. */
  async forgetExpired(ids: readonly string[]): Promise<void> {
    const now = this.#context.clock.now()
    await writeEachInParts(this.#context, SYSTEM_CALL, ids, async (tx, id) => {
      const found = await tx.collection(revocations).get(id)
      if (found !== undefined && found.expiresAt <= now) await tx.collection(revocations).delete(id)
    })
  }

  async #revoke(
    tx: WriteTransaction,
    id: string,
    revoked: Pick<Revocation, 'type' | 'expiresAt' | 'identityId' | 'apiSessionId'>,
  ): Promise<void> {
    if ((await tx.collection(revocations).get(id)) !== undefined) return
    await tx.collection(revocations).insert(newRecord(id, this.#context.clock.now(), revoked))
  }
}

/**
 * Refuses one more revocation of an identity beyond its quota, now or at the end of a session that is about to begin:
 * every router holds all of them. Error: `COULD_NOT_VALIDATE` naming the limit.
 */
export function requireRevocationQuota(
  context: EngineContext,
  tx: WriteTransaction,
  identityId: string,
): Promise<void> {
  const counted = { resource: revocations, field: 'identityId' }
  return requireQuota(context, tx, [counted], { id: identityId, limit: 'revocationsPerIdentity' })
}

/**
 * A UUID in lower case with hyphens. The message is that of deployed controllers, which take every version. Error:
 * `COULD_NOT_VALIDATE` for an invalid UUID.
 */
function asTokensHaveIt(id: string): string {
  const [, ...parts] = UUID.exec(id) ?? []
  if (parts.length === 0) throw invalidField('id', 'must be a valid UUID v4', id)
  return parts.join('-').toLowerCase()
}

/** The sessions made of tokens that a revocation ends: the session with the id, or all sessions of the identity. */
async function endTokenSessions(tx: WriteTransaction, type: Revocation['type'], id: string, batch: WriteBatch) {
  if (type === 'JTI') return undefined
  const isTheirs = equals(type === 'IDENTITY' ? 'identityId' : 'id', id)
  const isMadeOfTokens: Filter = { kind: 'not', of: equals('tokensExpireAt', null) }
  return deleteEach(tx, apiSessions, { kind: 'and', left: isTheirs, right: isMadeOfTokens }, batch)
}
