import { rowsOfAccess } from './dataplane/access-changes.ts'
import { serveNetwork } from './dataplane/served.ts'
import type { BenchRow } from './row.ts'

const PARTS = ['access']

/**
 * What delays endpoints at a controller with its router in one process, over TLS from other processes: `access`, how soon a change of
 * access shows.
 */
export async function* benchDelays(parts: readonly string[] = PARTS): AsyncGenerator<BenchRow> {
  const network = await serveNetwork()
  try {
    if (parts.includes('access')) yield* rowsOfAccess(network)
  } finally {
    await network.close()
  }
}
