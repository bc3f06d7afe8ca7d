/**
 * The keys of peer data, by which the two ends of a circuit learn of each other, that controllers and routers read or write themselves. All
 * other items pass under the numbers that endpoints use.
 */
export const PEER_DATA = {
  /** The public key of one end, for encryption from end to end. */
  publicKey: 1003,
  /** Which terminator the client had before, or has now. */
  stickiness: 1114,
  /** The id of the identity that dials. */
  dialerId: 1115,
  /** The name of the identity that dials. */
  dialerName: 1116,
} as const
