/** The facts of a signer that decide whether it is offered. */
export interface OfferedSigner {
  readonly id: string
  readonly name: string
  readonly createdAt: number
  /** False for a signer that a delegate created or changed, until an administrator confirms it. */
  readonly mayAuthenticateAdmins: boolean
  /** The delegate that last set the rules by which its tokens authenticate; null for an administrator. */
  readonly decidedById: string | null
}

/** The most signers that are offered at once. */
const MOST = 20
/** The most signers of one delegate among them. */
const MOST_OF_ONE = 3

/**
 * The signers that anonymous callers are offered, at most 20: first the signers that administrators trust, by name, then signers of
 * delegates. Each delegate gets at most three, the oldest first. Delegates take turns, so that no delegate's signers displace another's.
 */
export function offeredSigners<S extends OfferedSigner>(signers: readonly S[]): readonly S[] {
  const trusted = signers.filter(({ mayAuthenticateAdmins }) => mayAuthenticateAdmins).sort(byName)
  const others = signers.filter(({ mayAuthenticateAdmins }) => !mayAuthenticateAdmins).sort(byAge)
  const known = new Map<string | null, number>()
  const inTurns = others.map((signer) => {
    const round = known.get(signer.decidedById) ?? 0
    known.set(signer.decidedById, round + 1)
    return { signer, round }
  })
  const shown = inTurns.filter(({ round }) => round < MOST_OF_ONE).sort((one, other) => one.round - other.round)
  const room = Math.max(MOST - trusted.length, 0)
  const rest = shown.slice(0, room).map(({ signer }) => signer)
  return [...trusted.slice(0, MOST), ...rest.sort(byName)]
}

function byName(one: OfferedSigner, other: OfferedSigner): number {
  return one.name < other.name ? -1 : 1
}

function byAge(one: OfferedSigner, other: OfferedSigner): number {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)
}
