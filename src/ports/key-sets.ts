/** Fetches the key sets of token signers. */
export interface KeySets {
  /** Why a URL may not be fetched, by what it says alone; `undefined` when it may. */
  refusal(url: string): string | undefined
  /**
   * The JSON text at a URL. Rejects after five seconds, above 256 KiB, on an answer other than 200, and when the URL or a
   * redirect leads to an address that is not allowed.
   */
  fetch(url: string): Promise<string>
}

/** Sends what a login at an external OpenID provider brought to where it becomes tokens. */
export interface TokenEndpoints {
  /**
   * Posts a form and answers the JSON text of the answer. Rejects after five seconds, above 256 KiB, on an answer other
   * than 200, a redirect included, and for an address that is not allowed.
   */
  post(url: string, form: Readonly<Record<string, string>>): Promise<string>
}
