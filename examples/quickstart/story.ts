import { styleText } from 'node:util'

/** Reports that something is done. */
export type Tick = (done: string) => void

/** A step that failed, by its place in the story. */
export class StepFailed extends Error {
  constructor(number: number, title: string, cause: unknown) {
    super(`Step ${number} (${title}) failed: ${reasonOf(cause)}`, { cause })
  }
}

/** Tells what the quickstart does, one numbered step after the other. */
export interface Story {
  /** Runs a step under its title. Rejects with {@link StepFailed} when it fails. */
  step<T>(title: string, run: (tick: Tick) => Promise<T>): Promise<T>
  /** Prints lines as they are. */
  say(...lines: readonly string[]): void
}

/** Durations under this many milliseconds are not worth a reader's attention. */
const SHOWN_FROM_MS = 20

/** A story on a terminal, in colour where standard output shows colours and `NO_COLOR` is not set. */
export function tellStory(write: (line: string) => void): Story {
  let number = 0
  return {
    async step(title, run) {
      number += 1
      const own = number
      write(styleText('bold', `\n${own}. ${title}`))
      let since = performance.now()
      const tick: Tick = (done) => {
        const elapsedMs = Math.round(performance.now() - since)
        const duration = elapsedMs < SHOWN_FROM_MS ? '' : styleText('gray', ` (${elapsedMs} ms)`)
        write(`   ${styleText('green', '✔')} ${done}${duration}`)
        since = performance.now()
      }
      try {
        return await run(tick)
      } catch (error) {
        throw new StepFailed(own, title, error)
      }
    },
    say: (...lines) => {
      for (const line of lines) write(line)
    },
  }
}

/** Says why, with the field that a controller named and the cause below a network error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const field = fieldOf(error)
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${field === undefined ? '' : ` (field: ${field})`}${cause}`
}

function fieldOf(error: Error): string | undefined {
  const details: unknown = 'details' in error ? error.details : undefined
  if (typeof details !== 'object' || details === null || !('field' in details)) return undefined
  return String(details.field)
}
