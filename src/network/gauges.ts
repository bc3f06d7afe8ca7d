import type { ControllerEvents, EventName, Events } from '../../ports/events.ts'
import type { Instrument, MetricAttributes, Metrics } from '../../ports/telemetry/metrics.ts'

/** Counts what happens in this process, from the events that its host hears as well. */
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
