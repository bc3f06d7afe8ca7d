import type { IndexCounts } from '../../domain/access-index/index.ts'
import type { Instrument, Reading } from '../../ports/telemetry/metrics.ts'

/** What gauges are read from. Nothing of it takes longer for a larger network. */
export interface GaugeSource {
  /** What the access index holds, and as of which revision of the store; -1 before the first question. */
  index(): { readonly counts: IndexCounts; readonly revision: number }
  /** The latest revision of the store; rejects where it is away. */
  storeRevision(): Promise<number>
  /** How many routers are connected to this process. */
  connectedRouters(): number
  /** Milliseconds since the controller was made. */
  uptimeMs(): number
}

const INDEX_SIZE = gauge('access_index.size', '{entry}', 'What the access index holds, by kind.')
const INDEX_LAG = gauge(
  'access_index.lag',
  '{revision}',
  'Revisions of the store that the access index has yet to follow.',
)
const REVISION = gauge('store.revision', '{revision}', 'Writes that the store has seen.')
const ROUTERS = gauge('routers.connected', '{router}', 'Routers that are connected to this process.')
const UPTIME = gauge('uptime', 's', 'Time since the controller was made.')

export const GAUGES: readonly Instrument[] = [INDEX_SIZE, INDEX_LAG, REVISION, ROUTERS, UPTIME]

/** What the gauges show now. Those of the store are missing while it is away. */
export async function readGauges(source: GaugeSource): Promise<readonly Reading[]> {
  const { counts, revision } = source.index()
  const sizes = Object.entries(counts).map(([kind, value]) => ({ instrument: INDEX_SIZE, value, attributes: { kind } }))
  const readings: Reading[] = [
    ...sizes,
    { instrument: ROUTERS, value: source.connectedRouters() },
    { instrument: UPTIME, value: source.uptimeMs() / 1000 },
  ]
  const latest = await source.storeRevision().catch(() => undefined)
  if (latest === undefined) return readings
  const lag = Math.max(latest - Math.max(revision, 0), 0)
  return [...readings, { instrument: REVISION, value: latest }, { instrument: INDEX_LAG, value: lag }]
}

function gauge(name: string, unit: string, description: string): Instrument {
  return { name: `portcullis.${name}`, kind: 'gauge', unit, description }
}
