import { isIn } from '../../domain/filter/index.ts'
import { instant } from '../../domain/instant.ts'
import type { RouterPresence } from '../../ports/router-presence.ts'
import type { edgeRouters } from '../../resources/edge-routers.ts'
import { enrollments } from '../../resources/enrollments.ts'
import type { DeriveMembers } from './render.ts'

const UNKNOWN_VERSION = { arch: '', buildDate: '', os: '', revision: '', version: '' }

/** How a router stands towards the data plane; offline routers have no addresses. */
export function presenceMembers(presence: RouterPresence, id: string) {
  const connection = presence.connectionOf(id)
  return {
    hostname: connection?.hostname ?? '',
    isOnline: connection !== undefined,
    supportedProtocols: connection?.supportedProtocols ?? {},
    syncStatus: connection === undefined ? 'SYNC_UNKNOWN' : 'SYNC_DONE',
  }
}

/** Presence of edge routers and, until they are verified, their enrollment (interface: Edge router). */
export const edgeRouterMembers: DeriveMembers<typeof edgeRouters> = async (context, tx, _call, records) => {
  const unverified = records.filter(({ isVerified }) => !isVerified).map(({ id }) => id)
  const { items } = await tx.collection(enrollments).find({ where: isIn('edgeRouterId', unverified) })
  const outstanding = new Map(items.map((enrollment) => [enrollment.edgeRouterId, enrollment]))
  return records.map((router) => {
    const enrollment = outstanding.get(router.id)
    return {
      ...presenceMembers(context.presence, router.id),
      fingerprint: router.fingerprint ?? undefined,
      interfaces: null,
      versionInfo: UNKNOWN_VERSION,
      ...(enrollment && {
        enrollmentCreatedAt: instant(enrollment.createdAt),
        enrollmentExpiresAt: instant(enrollment.expiresAt),
        enrollmentJwt: enrollment.jwt,
        enrollmentToken: enrollment.token,
      }),
    }
  })
}
