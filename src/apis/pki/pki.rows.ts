import { z } from 'zod'
import {
  AuthorityChangeRequest,
  PkiStatusData,
  RenewalHolderData,
  RotationRequestBody,
} from '../../facts/pki/pki-requests.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'

/** Shows the keys of the network. */
export const pkiOperation = defineOperation(
  {
    route: 'GET /pki',
    summary:
      "Shows the network's authorities, who has certificates of the latest, and what depends on the server's key",
    access: { entity: 'ops', action: 'read' },
    isLong: true,
    data: PkiStatusData,
  },
  async ({ engine }) => ({ data: await engine.keyRotation.status() }),
)

/** Lists the holders of certificates of earlier authorities. */
export const pkiOutstandingOperation = defineOperation(
  {
    route: 'GET /pki/outstanding',
    summary: 'Lists who has no certificate of the latest authority yet, 500 at most',
    description:
      'Routers first. Each with the reason and with what helps: some renew when they are next seen, others have to enroll anew.',
    access: { entity: 'ops', action: 'read' },
    isLong: true,
    data: z.array(RenewalHolderData),
  },
  async ({ engine }) => ({ data: [...(await engine.keyRotation.outstanding())] }),
)

/** Changes a key of the network. */
export const rotateKeysOperation = defineOperation(
  {
    route: 'POST /pki/rotations',
    summary: 'Makes the next key of the server, of the signing authority, or of the root',
    description:
      'The root before vouches for the next one where its key is at hand. Where it is not, the next one is announced in the trust ' +
      'bundle, and signs when a change of the authority says so. Devices are asked to renew their certificates.',
    access: 'admin',
    body: RotationRequestBody,
    data: PkiStatusData,
  },
  async ({ engine, call, request }) => ({ data: await engine.keyRotation.rotate(call, request) }),
)

/** Changes how long an authority is valid. */
export const changeAuthorityOperation = defineOperation(
  {
    route: 'PATCH /pki/authorities/{id}',
    summary: 'Says how long the certificates of an authority are good, or that an announced one begins to sign',
    access: 'admin',
    body: AuthorityChangeRequest,
    data: PkiStatusData,
  },
  async ({ engine, call, params, request }) => ({
    data: await engine.keyRotation.change(call, params.id, request),
  }),
)
