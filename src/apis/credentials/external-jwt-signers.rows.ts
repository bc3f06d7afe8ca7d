import { z } from 'zod'
import { externalJwtSigners } from '../../facts/credentials/signers/external-jwt-signer.resource.ts'
import { defineOperation } from '../../http/operations/define-operation.ts'
import { shownSymbols } from '../../http/operations/list-query.ts'
import { onlyMembers } from '../../http/operations/operation.ts'
import { Links, Tags } from '../../kernel/declaration/fields.ts'
import { described } from '../../kernel/declaration/words.ts'
import { equals } from '../../kernel/filter/index.ts'
import type { FindQuery } from '../../ports/record-storage.ts'

const ClientSigner = described(
  z.object({
    _links: Links,
    audience: z.string(),
    clientId: z.string().nullable(),
    createdAt: z.iso.datetime(),
    enrollToCertEnabled: z.boolean(),
    enrollToTokenEnabled: z.boolean(),
    externalAuthUrl: z.string().nullable(),
    id: z.string(),
    name: z.string(),
    openIdConfigurationUrl: z.string().optional(),
    scopes: z.array(z.string()),
    tags: Tags,
    targetToken: z.enum(['ACCESS', 'ID']),
    updatedAt: z.iso.datetime(),
  }),
  {
    audience: 'A value that a token must name among its audiences (`aud`).',
    clientId: 'The client id with which to ask the issuer for tokens; null when none is needed.',
    enrollToCertEnabled: 'Whether a token and a signing request enroll an identity that then has a certificate.',
    enrollToTokenEnabled: 'Whether a token enrolls an identity that then authenticates by tokens.',
    externalAuthUrl: 'Where to begin to log in at the issuer, a URL; null when that is not told.',
    openIdConfigurationUrl: 'Always absent: `externalAuthUrl` says where to begin.',
    scopes: 'The scopes to ask the issuer for.',
    targetToken: 'Which token of the issuer to send.',
  },
)

const SYMBOLS = shownSymbols(externalJwtSigners.symbols, ClientSigner, ['enabled'])

/** The signers with whose tokens any client may try to log in, as far as a login needs them. */
export const clientExternalJwtSigners = defineOperation(
  {
    route: 'GET /external-jwt-signers',
    summary: 'Lists the enabled external JWT signers',
    description:
      'The facts that a client needs to log in at an issuer. Issuers that administrators trust come first, unless `sort` says otherwise.',
    access: 'public',
    data: ClientSigner,
    symbols: SYMBOLS,
    errors: ['UNAUTHORIZED'],
  },
  async ({ engine, call, find }) => {
    const page = await engine.reader.list(call, externalJwtSigners, inOrder(find), async () => equals('enabled', true))
    return { page: { ...page, items: page.items.map((signer) => onlyMembers(signer, ClientSigner)) } }
  },
)

/** Signers of delegates come last: however many there are, they move no trusted signer to a later page. */
function inOrder(find: FindQuery): FindQuery {
  return find.orderBy === undefined ? { ...find, orderBy: TRUSTED_FIRST } : find
}

const TRUSTED_FIRST = [{ field: 'mayAuthenticateAdmins', kind: 'boolean', direction: 'desc' }] as const
