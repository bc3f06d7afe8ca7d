import { ControllerError, invalidField } from '../base/errors.ts'
import { logFailure } from '../context/background-failure.ts'
import { type Call, redeemed } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import type { Voucher } from '../credentials/certificate-holder.ts'
import { identities, PLAIN_IDENTITY } from '../facts/identities/identity.resource.ts'
import type { DirectorySearch } from '../facts/network/host-directory.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import { requireQuota } from '../records/owner-quota.ts'
import { findOne, newRecord } from '../records/read-records.ts'
import { checkRoleAttributes, refusingDuplicates } from '../records/references.ts'

type Identity = RecordOf<typeof identities>

/** The fields of a new identity that a certificate, a token or a directory may claim. */
export type ClaimedFields = Pick<Identity, 'externalId' | 'name' | 'roleAttributes'>

const FIELDS = ['name', 'externalId', 'roleAttributes'] as const

/** Checks the fields that are claimed for a new identity by the rules of a request. Error: `COULD_NOT_VALIDATE` naming the field. */
export function checkClaimedFields(claimed: ClaimedFields): void {
  if (claimed.name.trim() === '') throw invalidField('name', 'name is required', '')
  checkRoleAttributes('roleAttributes', claimed.roleAttributes)
  for (const field of FIELDS) {
    const result = identities.definition.writable[field].safeParse(claimed[field])
    const [issue] = result.error?.issues ?? []
    if (issue !== undefined)
      throw invalidField(field, `${field} that was claimed is not acceptable: ${issue.message}`, '')
  }
}

/**
 * Makes an identity without rights for a person that the directory of the host finds. True where there is an identity of the person
 * afterwards. The log says why it was impossible.
 */
export async function makeIdentityOf(
  context: EngineContext,
  call: Call,
  wanted: DirectorySearch,
  voucher?: Voucher,
): Promise<boolean> {
  const { clock, host, logger, random, storage, writes } = context
  const person = await host.directory?.find(wanted)
  if (person === undefined) return false
  const { name, externalId = null } = person
  const fields = { ...PLAIN_IDENTITY, typeId: 'Default' as const, name, externalId, enrolledById: voucher?.id ?? null }
  const identity = newRecord(random.id(), clock.now(), fields)
  const write = () =>
    writes.run(redeemed(call), async (tx) => {
      if ((await identityOf(tx, wanted)) !== undefined) return true
      if (voucher !== undefined) {
        if (!(await voucher.admits(tx, identity))) return false
        const { id, limit } = voucher
        await requireQuota(context, tx, [{ resource: identities, field: 'enrolledById' }], { id, limit })
      }
      await tx.collection(identities).insert(identity)
      return true
    })
  try {
    checkClaimedFields(identity)
    return await refusingDuplicates(identities, write)
  } catch (error) {
    if (!(error instanceof ControllerError)) throw error
    // Another process may have made the identity meanwhile.
    if ((await storage.read((tx) => identityOf(tx, wanted))) !== undefined) return true
    logFailure(logger, 'no identity could be made for a person of the directory', error, { ...wanted })
    return false
  }
}

/** The identity of a person; undefined where there is no such identity. */
export function identityOf(tx: ReadTransaction, wanted: DirectorySearch): Promise<Identity | undefined> {
  return 'externalId' in wanted
    ? findOne(tx, identities, 'externalId', wanted.externalId)
    : findOne(tx, identities, 'name', wanted.name)
}
