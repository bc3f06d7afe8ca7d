import type { InspectionRequest, InspectionResult, Validated, ValidationRequest } from '../rules/index.ts'

/** Every message that the controller accepts from operators' programs. */
export type FromOperator =
  | (InspectionRequest & { readonly type: 'inspect' })
  /** Subscribes to events for as long as the channel lasts; the body is JSON. */
  | { readonly type: 'stream-events'; readonly body: string }
  | { readonly type: 'validate'; readonly request: ValidationRequest }
  /** Turns the tracing of routers' channels on or off. */
  | Omit<TraceChannels, 'id'>
  /** Subscribes to the messages of traced channels for as long as the channel lasts: to all, or by content types. */
  | {
      readonly type: 'stream-traces'
      readonly only: { readonly isIncluding: boolean; readonly contentTypes: readonly number[] } | undefined
    }
  /** A request that this controller does not serve, in words. */
  | { readonly type: 'unsupported'; readonly what: string }

/** Every message that the controller sends to operators' programs. */
export type ToOperator =
  | { readonly type: 'result'; readonly success: boolean; readonly message: string }
  | (InspectionResult & { readonly type: 'inspected' })
  /** An event as JSON, and its kind. */
  | { readonly type: 'event'; readonly kind: string; readonly text: string }
  | ChannelTrace
  /** The beginning of a validation: the number of results, or the reason of a failure. */
  | {
      readonly type: 'validation-begun'
      readonly what: ValidationRequest['what']
      readonly count: number
      readonly problem: string | undefined
    }
  | { readonly type: 'validated'; readonly result: Validated }

/** The channel to an operator's program. Messages are queued and arrive in order. */
export interface OperatorChannel {
  send(message: ToOperator): void
  close(): void
}

/** The session of an operator's program on a channel. */
export interface OperatorSession {
  /**
   * Takes a message and answers the reply, if any. Call `begin` after the reply was sent, if present: further messages follow. Never
   * rejects.
   */
  receive(message: FromOperator): Promise<{ readonly reply: ToOperator; readonly begin?: () => void } | undefined>
  /** Reports that the channel is closed. */
  closed(): void
}

/** Begins the session of a program whose connection was admitted. */
export type OpenOperatorSession = (channel: OperatorChannel) => OperatorSession

/** Turns the tracing of channels on or off. Channels that are opened later are not affected. */
export interface TraceChannels {
  readonly type: 'trace-channels'
  /** The router repeats it in its answer. */
  readonly id: string
  readonly isOn: boolean
  /** The channels that the answer names: matching channels, other channels, all, or none. */
  readonly named: 'none' | 'matching' | 'other' | 'all'
  /** Patterns of RE2: the id of the router, and names of its channels. */
  readonly routerPattern: string
  readonly channelPattern: string
}

/** A traced message on a channel of a router. */
export interface ChannelTrace {
  readonly type: 'channel-trace'
  /** Nanoseconds since 1970. */
  readonly atNs: bigint
  /** The router or link that owns the channel, and the name of the channel. */
  readonly owner: string
  readonly channel: string
  readonly isReceived: boolean
  readonly contentType: number
  readonly sequence: number
  /** The number of the message that it answers; -1 for a message that is no reply. */
  readonly replyFor: number
  /** Bytes of its body. */
  readonly length: number
  /** The decoded message as a JSON object; empty if the router cannot decode it. */
  readonly meaning: string
}
