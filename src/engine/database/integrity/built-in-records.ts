import { BUILT_IN_CONFIG_TYPES } from '../../../domain/config-types/index.ts'
import { POSTURE_CHECK_TYPES } from '../../../domain/posture/index.ts'
import { DEFAULT_AUTH_POLICY } from '../../credentials/auth-policies.ts'

/** What a new network has under an id of a kind, where the controller makes it by itself: without it nothing can be done. */
export function builtInFields(kind: string, id: string): object | undefined {
  switch (kind) {
    case 'auth-policies':
      return id === 'default' ? DEFAULT_AUTH_POLICY : undefined
    case 'config-types':
      return BUILT_IN_CONFIG_TYPES.find((type) => type.id === id)
    case 'identity-types':
      return { name: id }
    case 'posture-check-types':
      return POSTURE_CHECK_TYPES.find((type) => type.id === id)
    default:
      return undefined
  }
}
