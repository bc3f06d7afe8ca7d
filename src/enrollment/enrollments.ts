import type { z } from 'zod'
import { refuseAdminChange } from '../authority/containment.ts'
import { refuseQuestionsAboutSecrets } from '../authority/invitation-secrets.ts'
import { administrators } from '../authority/trust.ts'
import { ControllerError, invalidField, notFound, unacceptableField } from '../base/errors.ts'
import { instantText } from '../base/time.ts'
import { type Call, isAdminCall } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { type Invitation, insertInvitation, inviteToEnroll } from '../credentials/enrollment-tokens.ts'
import type { EntityReader } from '../entities/entity-reader.ts'
import { EnrollmentExpiry } from '../facts/credentials/authenticator.resource.ts'
import { cas } from '../facts/enrollment/ca.resource.ts'
import { type EnrollmentCreate, EnrollmentCreation, enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { identities } from '../facts/identities/identity.resource.ts'
import type { DetailOf } from '../facts/resources/wire-forms.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { both, type Filter, isIn, matches } from '../kernel/filter/index.ts'
import type { FindQuery, Page, ReadTransaction } from '../ports/record-storage.ts'
import { readToDelete } from '../records/read-records.ts'

type Enrollment = RecordOf<typeof enrollments>

type Creation = z.output<typeof EnrollmentCreation>

/** Invitations to enroll, as admins manage them. Only an admin sees the invitations of admins. */
export class Enrollments {
  readonly #context: EngineContext
  readonly #reader: EntityReader

  constructor(context: EngineContext, reader: EntityReader) {
    this.#context = context
    this.#reader = reader
  }

  /**
   * A page of the enrollments that a caller may see, within `where`.
   *
   * @throws {ControllerError} INVALID_FILTER when the query asks about secrets that the caller may not see.
   */
  async list(call: Call, find: FindQuery, where?: Filter): Promise<Page<DetailOf<typeof enrollments>>> {
    refuseQuestionsAboutSecrets(call, find)
    return this.#reader.list(call, enrollments, find, async (tx) => both(where, await this.#visibleTo(tx, call)))
  }

  /**
   * Invites an identity.
   *
   * @throws {ControllerError} INVALID_FIELD for an invalid member, with its name.
   * @throws {ControllerError} ENROLLMENT_EXISTS when the identity has an enrollment of the method.
   */
  async create(call: Call, request: EnrollmentCreate): Promise<Enrollment> {
    const input = readRequest(EnrollmentCreation, request)
    const { identityId, method, expiresAt } = input
    const now = this.#context.clock.now()
    if (expiresAt !== undefined && expiresAt <= now)
      throw unacceptableField('expiresAt', 'expiresAt must be in the future', instantText(expiresAt))
    const enrollment = await inviteToEnroll(this.#context, invitationOf(input), now, expiresAt)
    await this.#context.writes.run(call, async (tx) => {
      const identity = await tx.collection(identities).get(identityId)
      if (identity === undefined) throw unacceptableField('identityId', 'identity not found', identityId)
      refuseAdminChange(call, identity)
      if (method === 'ottca' && (await tx.collection(cas).get(enrollment.caId ?? '')) === undefined) {
        throw unacceptableField('caId', 'ca not found', input.caId)
      }
      await insertInvitation(tx, enrollment)
    })
    return enrollment
  }

  /**
   * Gives an enrollment a new token, valid until `expiresAt` (RFC 3339; by default as long as the settings say); the old one is void.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  async refresh(call: Call, id: string, request: z.input<typeof EnrollmentExpiry>): Promise<void> {
    const { expiresAt: asked } = readRequest(EnrollmentExpiry, request)
    const now = this.#context.clock.now()
    const known = await this.#context.storage.read((tx) => tx.collection(enrollments).get(readId(id)))
    if (known === undefined) throw notFound('enrollment', id)
    if (asked !== undefined && asked <= now)
      throw invalidField('expiresAt', 'must be after the current date and time', instantText(asked))
    const { token, jwt, expiresAt } = await inviteToEnroll(this.#context, known, now, asked)
    await this.#context.writes.run(call, async (tx) => {
      const current = await tx.collection(enrollments).get(id)
      if (current === undefined) throw notFound('enrollment', id)
      await this.#refuseOfAdmin(tx, call, current)
      await tx.collection(enrollments).update({ ...current, token, jwt, expiresAt, updatedAt: now })
    })
  }

  /**
   * Deletes an enrollment: its token is void.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  async delete(call: Call, id: string): Promise<void> {
    readId(id)
    await this.#context.writes.run(call, async (tx) => {
      const known = await readToDelete(call, () => tx.collection(enrollments).get(id))
      if (known === undefined) throw notFound('enrollment', id)
      await this.#refuseOfAdmin(tx, call, known)
      await tx.collection(enrollments).delete(id)
    })
  }

  /**
   * One enrollment.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} UNAUTHORIZED when it is an admin's, and the caller is no admin.
   */
  get(call: Call, id: string): Promise<DetailOf<typeof enrollments>> {
    return this.#reader.get(call, enrollments, id, async (tx, enrollment) => {
      const visible = await this.#visibleTo(tx, call)
      if (visible === undefined || matches(visible, enrollment)) return true
      const message = 'non-admins may not see enrollments of admin identities'
      throw new ControllerError('UNAUTHORIZED', { code: 'UNHANDLED', message })
    })
  }

  /** Limits enrollments to the view of a caller: an admin sees all, any other caller none of an admin. */
  async #visibleTo(tx: ReadTransaction, call: Call): Promise<Filter | undefined> {
    if (isAdminCall(call)) return undefined
    const ofAdmins = (await administrators(tx)).map(({ id }) => id)
    return { kind: 'not', of: isIn('identityId', ofAdmins) }
  }

  async #refuseOfAdmin(tx: ReadTransaction, call: Call, { identityId }: Enrollment): Promise<void> {
    const identity = identityId === null ? undefined : await tx.collection(identities).get(identityId)
    if (identity !== undefined) refuseAdminChange(call, identity)
  }
}

function invitationOf({ identityId, method, caId, username }: Creation): Invitation {
  switch (method) {
    case 'ott':
      return { method, identityId }
    case 'ottca':
      return { method, identityId, caId: caId ?? null }
    case 'updb':
      if (!username) throw unacceptableField('username', 'username not provided', '')
      return { method, identityId, username }
  }
}
