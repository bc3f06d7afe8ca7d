import { invalidField } from '../../domain/errors.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { identities } from '../../resources/identities/identities.ts'

/** What a certificate or a token may say of the identity that it makes. */
export type ClaimedFields = Pick<RecordOf<typeof identities>, 'externalId' | 'name' | 'roleAttributes'>

const FIELDS = ['name', 'externalId', 'roleAttributes'] as const

/**
 * Holds what a certificate or a token says of a new identity to the rules that a request has to keep. Error:
 * `COULD_NOT_VALIDATE` naming the field.
 */
export function checkClaimedFields(claimed: ClaimedFields): void {
  if (claimed.name.trim() === '') throw invalidField('name', 'name is required', '')
  for (const field of FIELDS) {
    const result = identities.definition.writable[field].safeParse(claimed[field])
    const [issue] = result.error?.issues ?? []
    if (issue !== undefined)
      throw invalidField(field, `${field} that was claimed is not acceptable: ${issue.message}`, '')
  }
}
