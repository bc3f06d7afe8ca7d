/**
 * Calls a function of the host. What it throws, or rejects with when it is an async one, goes to `onFailure` alone: nobody else
 * looks at what a listener answers, and a rejection that nobody looks at ends the process.
 */
export function callIsolated(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const answer = call()
    if (isThenable(answer)) Promise.resolve(answer).catch(onFailure)
  } catch (error) {
    onFailure(error)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
