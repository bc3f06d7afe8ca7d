import type { InspectionRequest, InspectionResult, Validated, ValidationRequest } from '../rules/index.ts'

/** Every message that the controller takes from programs of operators. */
export type FromOperator =
  | (InspectionRequest & { readonly type: 'inspect' })
  /** Wants events as they happen, for as long as the channel lasts; the body is JSON. */
  | { readonly type: 'stream-events'; readonly body: string }
  | { readonly type: 'validate'; readonly request: ValidationRequest }
  /** Wants routers to tell the messages of their channels, or no more. */
  | Omit<TraceChannels, 'id'>
  /** Wants to see the messages of traced channels, for as long as the channel lasts: all, or some by their content types. */
  | {
      readonly type: 'stream-traces'
      readonly only: { readonly isIncluding: boolean; readonly contentTypes: readonly number[] } | undefined
    }
  /** A request that this controller does not serve, in words. */
  | { readonly type: 'unsupported'; readonly what: string }

/** Every message that the controller sends to programs of operators. */
export type ToOperator =
  | { readonly type: 'result'; readonly success: boolean; readonly message: string }
  | (InspectionResult & { readonly type: 'inspected' })
  /** An event as JSON, and the kind that it is of. */
  | { readonly type: 'event'; readonly kind: string; readonly text: string }
  | ChannelTrace
  /** A validation begins: how many results follow, or why there are none. */
  | {
      readonly type: 'validation-begun'
      readonly what: ValidationRequest['what']
      readonly count: number
      readonly problem: string | undefined
    }
  | { readonly type: 'validated'; readonly result: Validated }

/** The way to a program of an operator; what is sent is queued and arrives in order. */
export interface OperatorChannel {
  send(message: ToOperator): void
  close(): void
}

/** A program of an operator that is connected by a channel. */
export interface OperatorSession {
  /**
   * Takes a message and answers what is to be replied, if anything; `begin` is called once the reply is sent, where more follows
   * it. Rejects never.
   */
  receive(message: FromOperator): Promise<{ readonly reply: ToOperator; readonly begin?: () => void } | undefined>
  /** The channel is closed. */
  closed(): void
}

/** Begins the session of a program whose request to be connected was let through. */
export type OpenOperatorSession = (channel: OperatorChannel) => OperatorSession

/** Wants the messages of channels traced, or no more. Channels that are opened later are not meant. */
export interface TraceChannels {
  readonly type: 'trace-channels'
  /** The router repeats it in its answer. */
  readonly id: string
  readonly isOn: boolean
  /** The channels that the answer names: those that fit the pattern, the others, all, or none. */
  readonly named: 'none' | 'matching' | 'other' | 'all'
  /** Patterns of RE2: the id of the router, and names of its channels. */
  readonly routerPattern: string
  readonly channelPattern: string
}

/** A message that passed on a channel of a router. */
export interface ChannelTrace {
  readonly type: 'channel-trace'
  /** Nanoseconds since 1970. */
  readonly atNs: bigint
  /** The router, or the link, whose channel it is, and the name of the channel. */
  readonly owner: string
  readonly channel: string
  readonly isReceived: boolean
  readonly contentType: number
  readonly sequence: number
  /** The number of the message that it answers; -1 for none. */
  readonly replyFor: number
  /** Bytes of its body. */
  readonly length: number
  /** The meaning of the message as a JSON object; empty where the router knows none. */
  readonly meaning: string
}
