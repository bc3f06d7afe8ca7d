import { rowsOfAccess } from './dataplane/access-changes.ts'
import { rowsOfNeighbours } from './dataplane/neighbours.ts'
import { serveNetwork } from './dataplane/served.ts'
import type { BenchRow } from './row.ts'

const PARTS = ['access', 'neighbours']

/**
 * Delays of endpoints at a controller with its router in one process, over TLS from other processes: `access`, how soon a change of
 * access shows; `neighbours`, how long one waits for its echoes while another one takes all it can get.
 */
export async function* benchDelays(parts: readonly string[] = PARTS): AsyncGenerator<BenchRow> {
  const network = await serveNetwork()
  try {
    if (parts.includes('access')) yield* rowsOfAccess(network)
    if (parts.includes('neighbours')) yield* rowsOfNeighbours(network)
  } finally {
    await network.close()
  }
}
