import type { Fetch } from '../../../src/client/index.ts'
import type { Timer } from '../channel/conversation.ts'
import { ConnectionFailure } from './connection-failure.ts'

/** Settles as `work` does; rejects with `TIMED_OUT` when that takes longer than `ms`. The work itself goes on. */
export function within<T>(ms: number, work: Promise<T>, timer: Timer, task: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timer(ms, () =>
      reject(new ConnectionFailure('TIMED_OUT', `${task}: it takes longer than ${ms / 1000} s`)),
    )
    work.then(resolve, reject).finally(cancel)
  })
}

/** The same `fetch`; its requests are given up, and reject with an `Error`, when no answer has come after `ms`. */
export function answeredWithin(ms: number, fetch: Fetch, timer: Timer): Fetch {
  return (request) =>
    new Promise((resolve, reject) => {
      const silence = new AbortController()
      const cancel = timer(ms, () => {
        const failure = new Error(`no answer within ${ms / 1000} s`)
        silence.abort(failure)
        // A controller in the same process takes no notice of signals.
        reject(failure)
      })
      const signal = AbortSignal.any([request.signal, silence.signal])
      fetch(new Request(request, { signal })).then(resolve, reject).finally(cancel)
    })
}
