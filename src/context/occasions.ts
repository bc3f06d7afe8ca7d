/** The handling of an occasion. */
interface OccasionFacts {
  /**
   * `prompt`: short work that others wait for. `bulk`: work that may take long, as it judges or writes many records; only a few such occasions
   * are handled at once.
   */
  readonly lane: 'prompt' | 'bulk'
  /** Milliseconds after which failed work is retried. */
  readonly retryMs: number
}

/** Milliseconds after which failed work is retried, unless its occasion says otherwise. */
export const RETRY_MS = 60_000
const PROMPT: OccasionFacts = { lane: 'prompt', retryMs: RETRY_MS }
const BULK: OccasionFacts = { lane: 'bulk', retryMs: RETRY_MS }
/** Other processes consider a process dead that is silent for half a minute. */
const LIFE_SIGN: OccasionFacts = { lane: 'prompt', retryMs: 5000 }

/** Access goes on that should have ended, or has not begun. */
const TERM: OccasionFacts = { lane: 'prompt', retryMs: 1000 }

/** The same for work that may take long. A login that is over may still give role attributes by its claims. */
const LOGIN_END: OccasionFacts = { lane: 'bulk', retryMs: 1000 }
/** The work judges every API session, also while the storage takes no changes. */
const WITHDRAWAL: OccasionFacts = { lane: 'bulk', retryMs: 5000 }

/** The occasions of the timetable. Each has turns of its own: a slow occasion does not delay another. */
export const OCCASIONS = {
  /** A session has expired. */
  overdue: LOGIN_END,
  /** An open access request has expired. */
  'access-request': BULK,
  /** The rights of an identity end by themselves. */
  rights: TERM,
  /** The directory of the host is due to be asked about identities, or what it gave ends. */
  directory: TERM,
  /** A role attribute of an identity begins or ends by itself. */
  'attribute-grant': TERM,
  /** Records of other processes, which may be gone, may have ended by time. */
  'unnoted-ends': PROMPT,
  /** A withdrawal of credentials could not be enforced: every API session is judged again. */
  withdrawn: WITHDRAWAL,
  /** A change of access could not be enforced: every session is judged again. */
  access: BULK,
  /** A service policy begins or ends. */
  'policy-term': TERM,
  /** The unknown connection state of an identity becomes offline. */
  'identity-connection': PROMPT,
  /** Other processes may have changed routers that are connected to this process. */
  'connected-routers': PROMPT,
  /** This process tells the others that it is alive. */
  presence: LIFE_SIGN,
  /** The wait for routers that set up a circuit ends. */
  route: PROMPT,
  /** The wait of a dial for the storage ends. */
  'dial-facts': PROMPT,
  /** The data plane does its regular work. */
  fabric: LIFE_SIGN,
  /** A login that was not completed ends. */
  'auth-request': BULK,
  /** The last token of a revocation has expired. */
  revocation: BULK,
  /** A stream of events ends. */
  'event-stream': PROMPT,
  /** The wait for a router that compares its data model ends. */
  'model-validation': PROMPT,
  /** The wait for routers that inspect their state ends. */
  inspection: PROMPT,
  /** The wait for routers that compare their terminators ends. */
  'terminator-validation': PROMPT,
  /** Connected operators are judged again. */
  operator: PROMPT,
  /** The rights behind a circuit expire. */
  'circuit-right': PROMPT,
  /** The rights behind a circuit expired, and the storage has not said since what is right. */
  'circuit-unanswered': PROMPT,
  /** The wait for routers that trace channels ends. */
  tracing: PROMPT,
  /** The wait for a dial ends. */
  'dial-trace': PROMPT,
  /** This process looks for other processes over the store. */
  processes: PROMPT,
  /** The wait for other processes that hold routers ends. */
  'holder-answer': PROMPT,
  /** The wait for processes that are asked for the owners of a router's circuits ends. */
  'circuit-owners': PROMPT,
  /** The next seal of the audit trail is due. */
  audit: BULK,
  /** The next attempt to deliver an event to a subscriber is due. */
  'event-delivery': BULK,
  /** Another process changed keys of the network, or a key begins or ends by time. */
  keys: BULK,
} as const satisfies Readonly<Record<string, OccasionFacts>>

export type Occasion = keyof typeof OCCASIONS
