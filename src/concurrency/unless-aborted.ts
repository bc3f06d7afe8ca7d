/**
 * Settles as `work` does, unless `signal` is aborted before: work may ignore the signal, as a `fetch` without a network does. Rejects with
 * the reason of the signal then; the work goes on, and its result is dropped.
 */
export async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const begun = work()
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    begun.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
