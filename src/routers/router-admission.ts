import { edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { transitRouters } from '../facts/routers/transit-router.resource.ts'
import type { ReadTransaction } from '../ports/record-storage.ts'
import type { RouterAdmission } from '../ports/router-presence.ts'

/** The facts that decide whether a router may be connected. */
export interface RouterFacts {
  readonly disabled: boolean
  readonly isVerified: boolean
  readonly fingerprint: string | null
}

/** Judges a router that is connected, or wants to be, with a certificate of this fingerprint. */
export function admitRouter(router: RouterFacts | undefined, fingerprint: string): RouterAdmission {
  if (router === undefined) return { accepted: false, reason: 'unknown' }
  if (router.disabled) return { accepted: false, reason: 'disabled' }
  if (!router.isVerified) return { accepted: false, reason: 'unverified' }
  return router.fingerprint === fingerprint ? { accepted: true } : { accepted: false, reason: 'fingerprint' }
}

/** The edge router or router of an id. */
export async function routerFacts(tx: ReadTransaction, id: string): Promise<RouterFacts | undefined> {
  return (await tx.collection(edgeRouters).get(id)) ?? (await tx.collection(transitRouters).get(id))
}

/**
 * The given routers that may carry no traffic: they are gone, disabled or not enrolled. A router whose certificate has
 * changed since it connected stays, because routers renew theirs.
 */
export async function shutOutAmong(tx: ReadTransaction, routerIds: Iterable<string>): Promise<readonly string[]> {
  const found: string[] = []
  for (const id of routerIds) {
    const router = await routerFacts(tx, id)
    if (!admitRouter(router, router?.fingerprint ?? '').accepted) found.push(id)
  }
  return found
}
