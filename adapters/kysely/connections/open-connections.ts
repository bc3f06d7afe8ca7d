import type { Dialect } from 'kysely'
import type { KyselyStorageOptions } from '../options.ts'
import { type ConnectionSource, pooledConnections, separateConnections } from './connection-source.ts'

/** The connections of one storage: those that read never wait for those that write, where the dialect allows it. */
export interface Connections {
  readonly readers: ConnectionSource
  readonly writers: ConnectionSource
  close(): Promise<void>
}

const READ_CONNECTIONS = 8
export const BUSY_TIMEOUT_MS = 5000

export function openConnections(options: KyselyStorageOptions): Connections {
  const { dialect, readConnections = READ_CONNECTIONS, busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  if (typeof dialect !== 'function') {
    const shared = sourceOf(dialect, 1, busyTimeoutMs)
    return { readers: shared, writers: shared, close: () => shared.close() }
  }
  const readers = sourceOf(dialect(), readConnections, busyTimeoutMs)
  const writers = sourceOf(dialect(), 1, busyTimeoutMs)
  return {
    readers,
    writers,
    async close() {
      await readers.close()
      await writers.close()
    },
  }
}

function sourceOf(dialect: Dialect, most: number, timeoutMs: number): ConnectionSource {
  const { supportsMultipleConnections } = dialect.createAdapter()
  return supportsMultipleConnections === false
    ? separateConnections(dialect, most, timeoutMs)
    : pooledConnections(dialect)
}
