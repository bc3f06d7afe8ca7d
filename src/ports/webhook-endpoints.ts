/** A message to an endpoint. */
export interface WebhookPost {
  /** JSON text. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Ends the attempt. */
  readonly signal: AbortSignal
}

/** Sends messages to the endpoints of webhooks, which are foreign servers. */
export interface WebhookEndpoints {
  /** The reason against a URL as an endpoint, by its text alone; `undefined` for an acceptable URL. */
  refusal(url: string): string | undefined
  /**
   * Posts a message and answers the status, with the `Retry-After` header if present. The body of the answer is not read, and no redirect
   * is followed. Rejects when the signal ends the attempt before an answer, and when the name resolves to a forbidden address, which is
   * checked for the connection itself.
   */
  post(url: string, message: WebhookPost): Promise<{ readonly status: number; readonly retryAfter?: string }>
  /** The signal of one attempt: it ends after a number of milliseconds, or with `closing`. */
  attemptSignal(closing: AbortSignal, milliseconds: number): AbortSignal
  /** HMAC-SHA256 of a UTF-8 text by a key, in base64. */
  signature(key: Uint8Array, text: string): Promise<string>
}
