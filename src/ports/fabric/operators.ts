import type { InspectionRequest, InspectionResult, Validated, ValidationRequest } from '../../fabric/rules/index.ts'

/** Every message that the controller takes from programs of operators. */
export type FromOperator =
  | (InspectionRequest & { readonly type: 'inspect' })
  /** Wants events as they happen, for as long as the channel lasts; the body is JSON. */
  | { readonly type: 'stream-events'; readonly body: string }
  | { readonly type: 'validate'; readonly request: ValidationRequest }
  /** A request that this controller does not serve, in words. */
  | { readonly type: 'unsupported'; readonly what: string }

/** Every message that the controller sends to programs of operators. */
export type ToOperator =
  | { readonly type: 'result'; readonly success: boolean; readonly message: string }
  | (InspectionResult & { readonly type: 'inspected' })
  /** An event as JSON, and the kind that it is of. */
  | { readonly type: 'event'; readonly kind: string; readonly text: string }
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
