import { instant } from '../../../domain/instant.ts'
import type { authenticators } from '../../../resources/authenticators.ts'
import type { RecordOf } from '../../../resources/resource.ts'
import type { DeriveMembers, Detail } from './render.ts'

type Authenticator = RecordOf<typeof authenticators>

/** Shows of an authenticator what belongs to its method (interface: Authenticator). */
export const authenticatorMembers: DeriveMembers<typeof authenticators> = async (_context, _tx, _call, records) =>
  records.map((authenticator) => ({
    _links: {
      self: { href: `./authenticators/${authenticator.id}` },
      identities: { href: `./identities/${authenticator.identityId}` },
    },
    ...(authenticator.method === 'updb' ? WITHOUT_CERTIFICATE : certificateMembers(authenticator)),
  }))

function certificateMembers({ extendRequestedAt }: Authenticator): Detail {
  return { username: undefined, extendRequestedAt: instant(extendRequestedAt) }
}

const WITHOUT_CERTIFICATE = {
  certPem: undefined,
  fingerprint: undefined,
  isIssuedByNetwork: undefined,
  lastAuthResolvedToRoot: undefined,
  isExtendRequested: undefined,
  isKeyRollRequested: undefined,
  extendRequestedAt: undefined,
  lastExtendRolledKeys: undefined,
} as const
