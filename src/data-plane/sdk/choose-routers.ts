/** A router that an identity may reach a service by, as a controller tells of it. */
export interface RouterOffer {
  readonly name: string
  /** `tls://HOST:PORT`; undefined for one that no endpoint can connect to. */
  readonly address: string | undefined
  readonly isOnline: boolean
  readonly cost: number
}

/**
 * The routers to try, the best first: those that are connected already, then those that are online, the cheaper ones before
 * dearer ones. One that is said to be offline comes last: the controller may be late.
 */
export function routersToTry(
  offers: readonly RouterOffer[],
  isConnected: (address: string) => boolean,
): readonly (RouterOffer & { readonly address: string })[] {
  const rank = ({ address, isOnline }: RouterOffer) => (isConnected(address ?? '') ? 0 : isOnline ? 1 : 2)
  return offers
    .filter((offer): offer is RouterOffer & { readonly address: string } => offer.address !== undefined)
    .toSorted((one, other) => rank(one) - rank(other) || one.cost - other.cost || (one.name < other.name ? -1 : 1))
}
