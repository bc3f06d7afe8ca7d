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
