import { refuseAdminChange } from '../authority/containment.ts'
import { invalidField, notFound } from '../base/errors.ts'
import { instantText } from '../base/time.ts'
import { type Call, knownCaller, SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import {
  type AttributeGrant,
  grantFields,
  grantsAt,
  isGivenAttribute,
  MOST_GRANTS,
} from '../facts/authority/authority.rules.ts'
import { type AttributeGrantCreate, AttributeGrantRequest } from '../facts/identities/attribute-grant.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import { equals } from '../kernel/filter/index.ts'
import { dueRecords } from '../records/due-records.ts'

/** Role attributes that identities have for some time. */
export class AttributeGrants {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * Gives an identity a role attribute until an instant. Grants add up: a further grant of the same attribute takes nothing from the others.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} COULD_NOT_VALIDATE when a member is invalid, or the identity has 50 grants.
   * @throws {ControllerError} UNAUTHORIZED for the caller itself, unless it is an administrator, and for an identity with rights that the
   *   caller lacks.
   */
  async give(call: Call, id: string, wanted: AttributeGrantCreate): Promise<AttributeGrant> {
    const { attribute, startsAt = null, until, reason = null } = readRequest(AttributeGrantRequest, wanted)
    const { clock, random } = this.#context
    const grant: AttributeGrant = {
      ...{ id: random.id(), attribute, startsAt: startsAt === null ? null : instantText(startsAt) },
      ...{ until: instantText(until), reason, givenBy: knownCaller(call)?.identity.name ?? null },
      phase: startsAt === null || startsAt <= clock.now() ? 'in-force' : 'coming',
    }
    if (!isGivenAttribute(attribute)) {
      throw invalidField('attribute', 'a role attribute is a text that does not begin with # or @', attribute)
    }
    if (until <= clock.now()) throw invalidField('until', 'until must be in the future', grant.until)
    if (startsAt !== null && until <= startsAt) {
      throw invalidField('until', 'until must be later than startsAt', grant.until)
    }
    await this.#change(call, id, (grants) => {
      if (grants.length < MOST_GRANTS) return [...grants, grant]
      throw invalidField('attribute', `an identity has at most ${MOST_GRANTS} grants`, attribute)
    })
    return grant
  }

  /**
   * Ends a grant before its time.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown identity or grant; a grant that is over is gone.
   * @throws {ControllerError} UNAUTHORIZED where the caller may not give grants to the identity.
   */
  async end(call: Call, id: string, grantId: string): Promise<void> {
    readId(grantId, 'grantId')
    await this.#change(call, id, (grants) => {
      const others = grants.filter((grant) => grant.id !== grantId)
      if (others.length === grants.length) throw notFound('grant', grantId)
      return others
    })
  }

  async #change(
    call: Call,
    id: string,
    change: (grants: readonly AttributeGrant[]) => readonly AttributeGrant[],
  ): Promise<void> {
    readId(id)
    await this.#context.writes.run(call, async (tx) => {
      const identity = await tx.collection(identities).get(id)
      if (identity === undefined) throw notFound('identity', id)
      refuseAdminChange(call, identity)
      const now = this.#context.clock.now()
      const fields = grantFields(change(grantsAt(identity, now, 'due')), now)
      await tx.collection(identities).update({ ...identity, ...fields, updatedAt: now })
    })
  }
}

/**
 * Begins and ends the grants whose instant has come, whichever process gave them. Each is an ordinary write: sessions and circuits without
 * access end with it, lists change, routers and the audit trail get it. Answers when (epoch ms) the next grant begins or ends.
 */
export async function followGrants({ clock, storage, writes }: EngineContext): Promise<number | undefined> {
  for (;;) {
    const isSet = { kind: 'not', of: equals('grantsDueAt', null) } as const
    const due = await storage.read((tx) => dueRecords(tx, identities, 'grantsDueAt', clock.now(), isSet))
    if (due.ids.length === 0) return due.next
    await writes.run(SYSTEM_CALL, async (tx) => {
      const now = clock.now()
      for (const id of due.ids) {
        // Another process or a caller may have changed it meanwhile.
        const identity = await tx.collection(identities).get(id)
        if (identity === undefined || identity.grantsDueAt === null || now < identity.grantsDueAt) continue
        await tx
          .collection(identities)
          .update({ ...identity, ...grantFields(identity.attributeGrants, now), updatedAt: now })
      }
    })
  }
}
