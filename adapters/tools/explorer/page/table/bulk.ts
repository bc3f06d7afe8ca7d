import { ApiError } from '../../../../../src/client/index.ts'
import { problemText } from '../api/problem-text.ts'

/** An entity that something is done to. */
export interface Target {
  readonly id: string
  readonly name: string
  readonly roleAttributes: readonly string[]
}

/** The outcome for some entities so far. Each is in one of the lists. */
export interface Progress {
  readonly done: readonly Target[]
  readonly refused: readonly { readonly target: Target; readonly why: string }[]
  /** Entities that nothing was tried for: not yet, or not any more. */
  readonly open: readonly Target[]
  /** Why nothing more is tried. */
  readonly stopped?: string
}

/** As many requests are under way at once. */
const AT_ONCE = 4

/**
 * Does something to each of some entities. A refusal ends nothing; the rest is left open where the controller is not reached, where the
 * session has ended, and when the user stops.
 */
export async function doToEach(
  targets: readonly Target[],
  act: (target: Target) => Promise<void>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (progress: Progress) => void },
): Promise<Progress> {
  let progress: Progress = { done: [], refused: [], open: targets }
  const tell = (next: Partial<Progress>) => {
    progress = { ...progress, ...next }
    onProgress(progress)
  }
  const settled = ({ id }: Target) => progress.open.filter((one) => one.id !== id)
  const queue = targets.values()
  const work = async () => {
    for (const target of queue) {
      try {
        await act(target)
        tell({ done: [...progress.done, target], open: settled(target) })
      } catch (error) {
        const why = problemText(error)
        if (isEnd(error)) tell({ stopped: why })
        else tell({ refused: [...progress.refused, { target, why }], open: settled(target) })
      }
      if (signal.aborted || progress.stopped !== undefined) return
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  if (signal.aborted && progress.open.length > 0) tell({ stopped: 'You stopped it.' })
  return progress
}

/** A request that did not reach the controller, or that it has no time for, says nothing of the entity; the next ones would not either. */
function isEnd(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 429 || error.status >= 500
}
