import { BoundedMap } from '../base/collections.ts'
import type { IdentityCredentials, IdentityCredentialsFeed } from '../context/context.ts'
import { StoreLevel } from '../context/store-level.ts'
import { authenticators } from '../facts/credentials/authenticator.resource.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import { mfas } from '../facts/login/mfa.resource.ts'
import type { RecordOf, Resource } from '../kernel/declaration/resource.ts'
import { isIn } from '../kernel/filter/index.ts'
import { type Change, DamagedRecord, type HistoryPoint, type ReadTransaction } from '../ports/record-storage.ts'

/** The records that belong to identities and say how they authenticate. */
const KINDS: readonly Resource[] = [authenticators, enrollments, mfas]
/** Identities that are remembered; beyond it, the identity with the oldest login is forgotten. */
const MAX_REMEMBERED = 4096
/** Changes that are looked at one by one; beyond it, all is forgotten, because to look at each costs more. */
const MOST_FOLLOWED = 100

interface Known extends IdentityCredentials {
  /** The ids of the records that the credentials were made of. */
  readonly recordIds: ReadonlySet<string>
}

/** The credentials of identities, level with the store: read when they are asked for, and kept until a change concerns them. */
export class CredentialsFeed implements IdentityCredentialsFeed {
  readonly #level: StoreLevel
  #known = new BoundedMap<string, Known>(MAX_REMEMBERED)

  /** `latest` asks the store, in a snapshot of its own, where it is. */
  constructor(latest: () => Promise<HistoryPoint>) {
    this.#level = new StoreLevel((tx, changes) => this.#catchUp(tx, changes), latest)
  }

  async of(tx: ReadTransaction, identityIds: readonly string[]): Promise<ReadonlyMap<string, IdentityCredentials>> {
    await this.#level.reach(tx)
    const found = new Map<string, IdentityCredentials>()
    const missing: string[] = []
    for (const id of identityIds) {
      const known = this.#level.isAt(tx) ? this.#known.get(id) : undefined
      if (known === undefined) missing.push(id)
      else this.#keep(id, known, found)
    }
    if (missing.length === 0) return found
    const read = await readCredentials(tx, missing)
    for (const [id, credentials] of read) {
      if (this.#level.isAt(tx)) this.#keep(id, credentials, found)
      else found.set(id, credentials)
    }
    return found
  }

  #keep(id: string, known: Known, found: Map<string, IdentityCredentials>): void {
    found.set(id, known)
    this.#known.set(id, known)
  }

  async #catchUp(tx: ReadTransaction, changes: readonly Change[] | undefined): Promise<void> {
    const concerned = changes?.filter(({ kind }) => KINDS.some(({ name }) => name === kind))
    try {
      if (concerned === undefined || concerned.length > MOST_FOLLOWED) this.#forgetAll()
      else for (const change of concerned) await this.#follow(tx, change)
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error
      this.#forgetAll()
    }
  }

  async #follow(tx: ReadTransaction, { kind, id, operation }: Change): Promise<void> {
    // A new record may belong to an identity that was remembered as having none.
    const resource = KINDS.find(({ name }) => name === kind)
    const record = resource && operation !== 'delete' ? await tx.collection(resource).get(id) : undefined
    if (typeof record?.identityId === 'string') this.#known.delete(record.identityId)
    for (const [identityId, { recordIds }] of this.#known) if (recordIds.has(id)) this.#known.delete(identityId)
  }

  #forgetAll(): void {
    this.#known = new BoundedMap(MAX_REMEMBERED)
  }
}

/** Reads the credentials of identities as of a snapshot; nothing is kept. */
export async function readCredentials(
  tx: ReadTransaction,
  identityIds: readonly string[],
): Promise<ReadonlyMap<string, Known>> {
  const where = isIn('identityId', identityIds)
  const byIdentity = new Map(identityIds.map((id) => [id, noCredentials()]))
  const ownedBy = (id: string | null) => byIdentity.get(id ?? '')
  for (const record of (await tx.collection(authenticators).find({ where })).items) {
    const known = ownedBy(record.identityId)
    const { id, method, fingerprint, username } = record
    if (known === undefined) continue
    known.authenticators[method] = method === 'cert' ? { fingerprint, id } : { id, username }
    known.recordIds.add(id)
  }
  for (const record of (await tx.collection(enrollments).find({ where })).items) {
    ownedBy(record.identityId)?.enrollments.push(record)
    ownedBy(record.identityId)?.recordIds.add(record.id)
  }
  for (const { id, identityId, isVerified } of (await tx.collection(mfas).find({ where })).items) {
    const known = ownedBy(identityId)
    if (known === undefined) continue
    known.isMfaEnabled = isVerified
    known.recordIds.add(id)
  }
  return byIdentity
}

function noCredentials() {
  const credentials: { [method in 'cert' | 'updb']?: Readonly<Record<string, string | null>> } = {}
  const invitations: RecordOf<typeof enrollments>[] = []
  return { authenticators: credentials, enrollments: invitations, isMfaEnabled: false, recordIds: new Set<string>() }
}
