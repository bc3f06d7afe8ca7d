import { quoted } from '../../../../src/base/text.ts'
import type { PkiStatus } from '../../../../src/index.ts'

/** Holders of certificates that somebody has to look at, with the first names. */
export type DueHolders = PkiStatus['due']['outstanding']

/** Reports whether nobody has to be looked at. */
export function isEmpty({ identities, routers }: DueHolders): boolean {
  return identities + routers === 0
}

/** `3 identities and 2 routers ('r1', 'r2', 'a', 'b', 'c')`. */
export function holdersOf({ identities, routers, names }: DueHolders): string {
  const counts = [
    ...(identities > 0 ? [`${identities} ${identities === 1 ? 'identity' : 'identities'}`] : []),
    ...(routers > 0 ? [`${routers} ${routers === 1 ? 'router' : 'routers'}`] : []),
  ]
  const rest = identities + routers - names.length
  return `${counts.join(' and ')} (${names.map(quoted).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`
}
