import { cas } from '../../resources/cas.ts'
import { linksOf } from './links.ts'
import type { DeriveMembers } from './render.ts'

/** What can be done with certificate authorities as they are now (interface: Certificate authority). */
export const caMembers: DeriveMembers<typeof cas> = async (_context, _tx, _call, records) =>
  records.map((ca) => ({
    _links: {
      ...linksOf(cas, ca),
      ...(ca.isVerified ? {} : { verify: { href: `./cas/${ca.id}/verify` } }),
      ...(ca.isAutoCaEnrollmentEnabled ? { jwt: { href: `./cas/${ca.id}/jwt` } } : {}),
    },
  }))
