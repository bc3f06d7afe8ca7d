import { both, equals, type Filter } from '../../domain/filter/index.ts'
import { isAdministrator } from '../../domain/identity.ts'
import type { ReadTransaction } from '../../ports/storage.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'
import { PERMISSIONS } from '../../resources/identities/permissions.ts'

type Identity = RecordOf<typeof identities>

const IS_ADMIN = equals('isAdmin', true)
const IS_DEFAULT_ADMIN = equals('isDefaultAdmin', true)
const HAS_PERMISSION: Filter = {
  kind: 'in',
  operand: { kind: 'anyOf', field: 'permissions' },
  values: new Set(PERMISSIONS),
}

/** The administrators, of which a network has few; found by an index. `where` narrows them. */
export async function administrators(tx: ReadTransaction, where?: Filter): Promise<readonly Identity[]> {
  return distinct([
    await identitiesWith(tx, both(IS_ADMIN, where)),
    await identitiesWith(tx, both(IS_DEFAULT_ADMIN, where)),
  ])
}

/** Administrators and identities with delegated permissions. `where` narrows them. */
export async function privilegedIdentities(tx: ReadTransaction, where?: Filter): Promise<readonly Identity[]> {
  const delegates = await identitiesWith(tx, both(HAS_PERMISSION, where))
  return distinct([await administrators(tx, where), delegates.filter((identity) => !isAdministrator(identity))])
}

async function identitiesWith(tx: ReadTransaction, where: Filter | undefined): Promise<readonly Identity[]> {
  return (await tx.collection(identities).find({ ...(where && { where }) })).items
}

function distinct(lists: readonly (readonly Identity[])[]): readonly Identity[] {
  return [...new Map(lists.flat().map((identity) => [identity.id, identity])).values()]
}
