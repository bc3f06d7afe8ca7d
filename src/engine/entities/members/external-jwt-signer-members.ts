import { instant, NO_INSTANT } from '../../../domain/instant.ts'
import type { externalJwtSigners } from '../../../resources/external-jwt-signers.ts'
import type { DeriveMembers } from './render.ts'

/** A signer without a certificate of its own is shown as good at no time (interface: External JWT signer). */
export const externalJwtSignerMembers: DeriveMembers<typeof externalJwtSigners> = async (
  _context,
  _tx,
  _call,
  records,
) =>
  records.map(({ notBefore, notAfter }) => ({
    notBefore: instant(notBefore ?? NO_INSTANT),
    notAfter: instant(notAfter ?? NO_INSTANT),
  }))
