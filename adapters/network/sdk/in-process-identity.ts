import type { Fetch } from '../../../src/client/index.ts'
import type { Channel } from '../channel/channel.ts'
import { channelPair } from '../channel/channel-pair.ts'
import { processTimer, type Timer } from '../channel/conversation.ts'
import type { BearerTokens } from './bearer-login.ts'
import { ConnectionFailure } from './connection-failure.ts'
import type { Identity } from './identity.ts'
import { identityOver } from './open-identity.ts'

/** The tokens of an API session. */
export type SessionTokens = BearerTokens

/** The controller and the router of this process, as an identity reaches them. */
export interface InProcess {
  /** The address of the controller in requests. */
  readonly origin: string
  readonly fetch: Fetch
  readonly router: {
    readonly name: string
    greet(channel: Channel, stranger: OfProcess): void
  }
  readonly timer?: Timer
  /** Milliseconds of a monotonic clock, the clock of `timer`. */
  readonly now?: () => number
  /** Makes the two ends of a channel to the router; it throws where none opens. Default: both ends are in this process. */
  readonly channels?: () => readonly [Channel, Channel]
  /** Begins an API session of the identity; answers its token, or its tokens, which are refreshed then before they expire. */
  startSession(): Promise<string | SessionTokens>
}

/** An endpoint of the router's own process. */
export interface OfProcess {
  readonly chain: readonly Uint8Array[]
  readonly remoteAddress: undefined
  readonly isOfProcess: true
}

/**
 * An identity whose controller and router are in this process: it opens no socket, shows no certificate, and follows the time of `timer`.
 * Policies apply to it as to any identity. It reaches only the hosts at this router.
 */
export function inProcessIdentity(surroundings: InProcess): Identity {
  const { origin, fetch, router, timer = processTimer, now, channels = channelPair, startSession } = surroundings
  return identityOver({
    ...(now !== undefined && { now }),
    ...{ controllers: [origin], fetchBy: () => fetch, timer, sessions: 'api-session', holdsProcess: false },
    logIn: async () => {
      try {
        return await startSession()
      } catch (cause) {
        const told = cause instanceof Error ? cause.message : String(cause)
        throw new ConnectionFailure('NOT_AUTHENTICATED', `no session begins: ${told}`, { cause })
      }
    },
    reaches: ({ name }) => name === router.name,
    connect: async () => {
      const [own, theirs] = opened(channels)
      router.greet(theirs, { chain: [], remoteAddress: undefined, isOfProcess: true })
      return own
    },
  })
}

function opened(channels: () => readonly [Channel, Channel]): readonly [Channel, Channel] {
  try {
    return channels()
  } catch (cause) {
    const told = cause instanceof Error ? cause.message : String(cause)
    throw new ConnectionFailure('ROUTER_UNREACHABLE', `the router cannot be reached: ${told}`, { cause })
  }
}
