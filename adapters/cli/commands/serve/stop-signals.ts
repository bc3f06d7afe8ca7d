import { constants } from 'node:os'

/**
 * npm passes on to its child the signals that a terminal or a service manager has already sent to the whole group, so
 * that one Ctrl-C arrives twice: what comes again within so many milliseconds is the same one.
 */
const ECHO_MS = 100

/** Resolves with the first SIGTERM or SIGINT; a second one ends the process at once, with 128 plus its number. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      const at = performance.now()
      if (first === undefined) {
        first = { signal, at }
        resolve(signal)
      } else if (first.signal !== signal || at - first.at > ECHO_MS) {
        process.exit(128 + constants.signals[signal])
      }
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}
