import type { DataPlaneFigures } from '../context/context.ts'
import type { IndexCounts } from '../facts/access/index/index.ts'
import type { ControllerEvents, EventName, Events } from '../facts/network/events.ts'
import type { PkiStatus } from '../facts/pki/pki-requests.resource.ts'
import type { Instrument, MetricAttributes, Metrics, Reading } from '../ports/telemetry.ts'

/** The state of deliveries to subscribers, over all of them. */
export interface DeliveryFigures {
  /** Subscribers whose last attempt failed. */
  readonly failing: number
  /** Milliseconds since the first of them failed; 0 where none does. */
  readonly failingMs: number
  /** Events that wait for a further attempt. */
  readonly waiting: number
  readonly dead: number
}

/** The sources that gauges are read from. None of them takes longer for a larger network. */
export interface GaugeSource {
  /** Reads the counts of the access index, and the revision of the store that it has reached; -1 before the first question. */
  index(): { readonly counts: IndexCounts; readonly revision: number }
  /** The latest revision of the store; rejects where it is away. */
  storeRevision(): Promise<number>
  /** Counts the texts of wire forms that are kept, and their characters; undefined where the runtime cannot tell. */
  texts(): { readonly texts: number; readonly characters: number } | undefined
  /** Whether the store recently refused a change because it is full. */
  refusesWrites(): boolean
  /** How many owners of limited records are remembered with their counts, at most 10,000. */
  rememberedOwners(): number
  /** How many routers are connected to this process. */
  connectedRouters(): number
  /** The data plane of this process; undefined while it is closed. */
  dataPlane(): DataPlaneFigures | undefined
  /** The state of deliveries to webhooks and subscribers of the host; rejects where the store is away. */
  deliveries(): Promise<DeliveryFigures>
  /** Counts the holders whose certificates need attention; rejects where the store is away. */
  certificates(): Promise<PkiStatus['due']>
  /** Milliseconds since the controller was made. */
  uptimeMs(): number
}

const INDEX_SIZE = gauge('access_index.size', '{entry}', 'The entries of the access index, by kind.')
const INDEX_LAG = gauge(
  'access_index.lag',
  '{revision}',
  'Revisions of the store that the access index has yet to follow.',
)
const REVISION = gauge('store.revision', '{revision}', 'Writes that the store has seen.')
const ROUTERS = gauge('routers.connected', '{router}', 'Routers that are connected to this process.', 'sum')
const CIRCUITS = gauge('circuits.open', '{circuit}', 'Circuits that this process laid and that are open.', 'sum')
const LINKS = gauge('links.up', '{link}', 'Links between routers that are in use.')
const LATENCY = gauge('links.latency', 's', 'Latency of the links that were measured, the mean and the greatest.')
const BEHIND = gauge('router_models.behind', '{router}', 'Routers that do not decide by the latest data model yet.')
const TEXTS = gauge(
  'wire_texts.kept',
  '{text}',
  'JSON texts of entities that are kept, for they stand in many answers.',
  'sum',
)
const TEXT_SIZE = gauge('wire_texts.size', '{character}', 'Characters of the JSON texts that are kept.', 'sum')
const OWNERS = gauge(
  'owner_counts.size',
  '{owner}',
  'Owners of limited records whose records need not be counted again, at most 10,000.',
  'sum',
)
const FAILING = gauge('webhooks.failing', '{webhook}', 'Webhooks and subscribers of hosts whose last attempt failed.')
const FAILING_TIME = gauge('webhooks.failing_time', 's', 'Time since the first of them failed; 0 where none does.')
const WAITING = gauge('webhooks.waiting', '{event}', 'Events that wait for a further attempt, of all webhooks.')
const DEAD = gauge('webhooks.dead', '{event}', 'Events that were given up, of all webhooks: dead letters.')
const OUTSTANDING = gauge(
  'certificates.outstanding',
  '{holder}',
  'Identities and routers without a certificate of the latest authority, of a minute ago at most.',
)
const ENDING = gauge(
  'certificates.ending',
  '{holder}',
  'Identities and routers that are let in for less than 30 days still: their certificate ends, or its authority does.',
)
const ENDED = gauge(
  'certificates.ended',
  '{holder}',
  'Identities and routers that are let in no more: their certificate has ended, or its authority has.',
)
const FULL = gauge('store.refuses_writes', '1', '1 while the store refuses changes because it is full, else 0.')
const UPTIME = gauge('uptime', 's', 'Time since the controller was made.', 'min')

export const GAUGES: readonly Instrument[] = [
  INDEX_SIZE,
  INDEX_LAG,
  REVISION,
  ROUTERS,
  CIRCUITS,
  LINKS,
  LATENCY,
  BEHIND,
  TEXTS,
  TEXT_SIZE,
  OWNERS,
  FAILING,
  FAILING_TIME,
  WAITING,
  DEAD,
  OUTSTANDING,
  ENDING,
  ENDED,
  FULL,
  UPTIME,
]

/** Reads the gauges now. Those of the store are missing while it is away. */
export async function readGauges(source: GaugeSource): Promise<readonly Reading[]> {
  const { counts, revision } = source.index()
  const sizes = Object.entries(counts).map(([kind, value]) => ({ instrument: INDEX_SIZE, value, attributes: { kind } }))
  const kept = source.texts()
  const texts =
    kept === undefined
      ? []
      : [
          { instrument: TEXTS, value: kept.texts },
          { instrument: TEXT_SIZE, value: kept.characters },
        ]
  const readings: Reading[] = [
    ...sizes,
    ...texts,
    ...dataPlaneReadings(source.dataPlane()),
    { instrument: ROUTERS, value: source.connectedRouters() },
    { instrument: FULL, value: source.refusesWrites() ? 1 : 0 },
    { instrument: OWNERS, value: source.rememberedOwners() },
    { instrument: UPTIME, value: source.uptimeMs() / 1000 },
  ]
  const asked = [source.storeRevision(), source.deliveries(), source.certificates()] as const
  const stored = await Promise.all(asked).catch(() => undefined)
  if (stored === undefined) return readings
  const [latest, deliveries, due] = stored
  const lag = Math.max(latest - Math.max(revision, 0), 0)
  const { failing, failingMs, waiting, dead } = deliveries
  return [
    ...readings,
    { instrument: REVISION, value: latest },
    { instrument: INDEX_LAG, value: lag },
    { instrument: FAILING, value: failing },
    { instrument: FAILING_TIME, value: failingMs / 1000 },
    { instrument: WAITING, value: waiting },
    { instrument: DEAD, value: dead },
    ...dueReadings(due),
  ]
}

function dueReadings({ outstanding, ending, ended }: PkiStatus['due']): readonly Reading[] {
  const groups = [
    [OUTSTANDING, outstanding],
    [ENDING, ending],
    [ENDED, ended],
  ] as const
  return groups.flatMap(([instrument, { identities, routers }]) => [
    { instrument, value: identities, attributes: { of: 'identities' } },
    { instrument, value: routers, attributes: { of: 'routers' } },
  ])
}

function dataPlaneReadings(figures: DataPlaneFigures | undefined): readonly Reading[] {
  if (figures === undefined) return []
  const { openCircuits, links, latency, routersBehind } = figures
  const measured = Object.entries(latency ?? {}).map(([of, milliseconds]) => {
    return { instrument: LATENCY, value: milliseconds / 1000, attributes: { of } }
  })
  return [
    { instrument: CIRCUITS, value: openCircuits },
    { instrument: LINKS, value: links },
    { instrument: BEHIND, value: routersBehind },
    ...measured,
  ]
}

/** Unless stated otherwise, processes over one store report the same value, or the worst of them counts. */
function gauge(name: string, unit: string, description: string, across: Instrument['across'] = 'max'): Instrument {
  return { name: `portcullis.${name}`, kind: 'gauge', unit, description, across }
}

/** Counts the events of this process, which its host gets as well. */
export function countEvents(events: Pick<Events, 'on'>, metrics: Metrics): void {
  function count<E extends EventName>(
    name: E,
    instrument: Instrument,
    attributesOf?: (event: ControllerEvents[E]) => MetricAttributes,
  ): void {
    events.on(name, (event) => metrics.record(instrument, 1, attributesOf?.(event)))
  }

  const logins = counter('logins', '{login}', 'Attempts to log in, by method and outcome.')
  count('authentication.attempted', logins, ({ method, success }) => ({
    method,
    outcome: success ? 'success' : 'failure',
  }))
  const enrollments = counter('enrollments', '{enrollment}', 'Enrollments that were completed, by method.')
  count('enrollment.completed', enrollments, ({ method }) => ({ method }))
  count('api-session.started', counter('api_sessions.started', '{session}', 'API sessions that began.'))
  const apiSessionsEnded = counter('api_sessions.ended', '{session}', 'API sessions that ended, by reason.')
  count('api-session.ended', apiSessionsEnded, ({ reason }) => ({ reason }))
  const sessionsCreated = counter('sessions.created', '{session}', 'Sessions for services that began, by type.')
  count('session.created', sessionsCreated, ({ type }) => ({ type }))
  const sessionsEnded = counter('sessions.ended', '{session}', 'Sessions for services that ended, by type and reason.')
  count('session.ended', sessionsEnded, ({ type, reason }) => ({ type, reason }))
  const refused = counter(
    'access.refused',
    '{request}',
    'Sessions that were refused because no policy passed, by type.',
  )
  count('service.refused', refused, ({ type }) => ({ type }))
  count('posture.changed', counter('posture.changes', '{change}', 'Reports of endpoints that told something new.'))
  const changes = counter('entities.changed', '{change}', 'Entities that were written, by kind and operation.')
  count('entity.changed', changes, ({ kind, operation }) => ({ kind, operation }))
  const routersRefused = counter('routers.refused', '{router}', 'Routers that were not let in, by reason.')
  count('router.refused', routersRefused, ({ reason }) => ({ reason }))
  count('circuit.opened', counter('circuits.opened', '{circuit}', 'Circuits that were laid.'))
  const circuitsClosed = counter('circuits.closed', '{circuit}', 'Circuits that are over, by reason.')
  count('circuit.closed', circuitsClosed, ({ reason }) => ({ reason }))
  const circuitsFailed = counter('circuits.failed', '{circuit}', 'Circuits that could not be laid, by reason.')
  count('circuit.failed', circuitsFailed, ({ reason }) => ({ reason }))
}

function counter(name: string, unit: string, description: string): Instrument {
  return { name: `portcullis.${name}`, kind: 'counter', unit, description }
}
