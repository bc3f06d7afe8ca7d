/** A message to an endpoint. */
export interface WebhookPost {
  /** JSON text. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Ends the attempt. */
  readonly signal: AbortSignal
}

/** Sends messages to the endpoints of webhooks, which others operate. */
export interface WebhookEndpoints {
  /** Why a URL may be no endpoint, by what it says alone; `undefined` when it may. */
  refusal(url: string): string | undefined
  /**
   * Posts a message and answers the status, with the `Retry-After` header where there is one. The body of the answer is not read,
   * and no redirect is followed. Rejects when there is no answer before the signal ends the attempt, and when the name leads to an
   * address that is not allowed, which the connection itself judges.
   */
  post(url: string, message: WebhookPost): Promise<{ readonly status: number; readonly retryAfter?: string }>
  /** The signal of one attempt: it ends after a number of milliseconds, or with `closing`. */
  attemptSignal(closing: AbortSignal, milliseconds: number): AbortSignal
  /** HMAC-SHA256 of a UTF-8 text by a key, in base64. */
  signature(key: Uint8Array, text: string): Promise<string>
}
