import { instant } from '../../domain/time/instant.ts'
import type { RecordOf } from '../../resources/declaration/resource.ts'
import { type Authenticators, authenticators } from '../../resources/login/authenticators.ts'
import type { Behaviour } from '../records/behaviour.ts'
import type { Detail } from '../records/wire-form/render.ts'

type Authenticator = RecordOf<typeof authenticators>

/** An authenticator shows what belongs to its method. */
export const authenticatorBehaviour: Behaviour<Authenticators> = {
  resource: authenticators,

  members: async (_context, _tx, _call, records) =>
    records.map((authenticator) => ({
      _links: {
        self: { href: `./authenticators/${authenticator.id}` },
        identities: { href: `./identities/${authenticator.identityId}` },
      },
      ...(authenticator.method === 'updb' ? WITHOUT_CERTIFICATE : certificateMembers(authenticator)),
    })),
}

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
