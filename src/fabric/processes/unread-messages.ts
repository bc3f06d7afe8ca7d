import { logFailure } from '../../context/background-failure.ts'
import type { EngineContext } from '../../context/context.ts'

/** Logs the failure of a message of another process, which ended the connection to it: the connection is opened again, and may fail again. */
export function tellUnread({ logger }: Pick<EngineContext, 'logger'>, address: string, failure: unknown): void {
  if (failure !== undefined) logFailure(logger, 'a message of another process could not be taken', failure, { address })
}
