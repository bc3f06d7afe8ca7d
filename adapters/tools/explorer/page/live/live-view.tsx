import { useState } from 'preact/hooks'
import { Trail } from '../changes/trail.tsx'
import { isBookkeeping, isOfNothing, TOPICS, type Topic, topicOf } from '../events/network-event.ts'
import { Card } from '../parts/card.tsx'
import { Toggle } from '../parts/fields.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { timeText, zoneText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { TrafficNow } from '../traffic/traffic-now.tsx'
import { EventList } from './event-list.tsx'
import { Histogram } from './histogram.tsx'
import { type LiveEvents, useEvents, useRecords } from './use-events.ts'

/** The network as it is now, and its events: earlier events and new events as they happen. */
export function LiveView() {
  const apis = useApis()
  const live = useEvents(apis)
  const [hidden, setHidden] = useState<ReadonlySet<Topic>>(new Set())
  const [until, setUntil] = useState<number>()
  const records = useRecords(apis, live.events)
  const wanted = live.events.filter((event) => !hidden.has(topicOf(event)) && !isBookkeeping(event))
  const shown = until === undefined ? wanted : wanted.filter(({ at }) => Date.parse(at) <= until)
  const toggle = (topic: Topic) => {
    const others = [...hidden].filter((one) => one !== topic)
    setHidden(new Set(hidden.has(topic) ? others : [...others, topic]))
  }
  return (
    <section class="live">
      <div class="bar">
        <h1>Live</h1>
        <span class={live.isOpen ? 'live-state' : 'live-state doubt'} role="status">
          <span class={`dot ${live.isOpen ? 'dot-online' : ''}`} />
          {stateText(live)}
        </span>
        {live.problem && (
          <span class="problem" role="alert">
            {live.problem}
          </span>
        )}
      </div>
      <div class="live-body">
        <div class="stack" data-results>
          <TrafficNow />
        </div>
        <div class="stack">
          <section class="card" aria-label="Events">
            <div class="panel-head">
              <h2>Events</h2>
              <span class="muted">Times are {zoneText()}.</span>
            </div>
            <fieldset class="toggles">
              <legend class="unseen">What is shown</legend>
              {TOPICS.map(({ topic, label }) => (
                <Toggle
                  key={topic}
                  class={`topic-${topic}`}
                  label={label}
                  isOn={!hidden.has(topic)}
                  onChange={() => toggle(topic)}
                />
              ))}
              {until !== undefined && (
                <button type="button" onClick={() => setUntil(undefined)}>
                  Back to now
                </button>
              )}
            </fieldset>
            <Histogram events={wanted} until={until} onUntil={setUntil} />
            {shown.length === 0 && !live.problem && (
              <p class="empty">Nothing happened yet. Logins, sessions, refusals, posture and routers appear here.</p>
            )}
            <EventList events={shown} records={records} />
          </section>
          {live.events[0] && <Earlier before={live.events[0].at} />}
        </div>
      </div>
    </section>
  )
}

function stateText({ isOpen, problem, heardAt }: LiveEvents): string {
  if (isOpen) return 'as it happens'
  if (problem === undefined) return 'connecting…'
  return heardAt === undefined
    ? 'not connected, trying again'
    : `not heard from since ${timeText(heardAt)}, trying again`
}

const PAGE_SIZE = 20

/** Events that the controller no longer remembers, from the audit trail, which survives a restart. */
function Earlier({ before }: { before: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title="Before that">
      {isOpen ? (
        <EarlierRecords before={before} />
      ) : (
        <button type="button" onClick={() => setOpen(true)}>
          Read the audit trail
        </button>
      )}
    </Card>
  )
}

function EarlierRecords({ before }: { before: string }) {
  const apis = useApis()
  const [place, setPlace] = useState<string>()
  const answer = useAnswer(
    async (signal) => {
      const query = {
        filter: `at < datetime(${before})`,
        limit: PAGE_SIZE,
        ...(place !== undefined && { before: place }),
      }
      return (await apis.portcullis.call('GET /audit', { query, signal })).data
    },
    [apis, before, place],
    isOfNothing,
  )
  return <Trail answer={answer} empty="Nothing is kept of before." onEarlier={setPlace} />
}
