import { useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { timeText } from '../parts/time-text.ts'
import { EventList } from './event-list.tsx'
import { Histogram } from './histogram.tsx'
import { TOPICS, type Topic, topicOf } from './network-event.ts'
import { type LiveEvents, useEvents } from './use-events.ts'

/** Shows the events of the network, as they happen, and those before. */
export function LiveView({ apis }: { apis: Apis }) {
  const live = useEvents(apis)
  const [hidden, setHidden] = useState<ReadonlySet<Topic>>(new Set())
  const [until, setUntil] = useState<number>()
  const wanted = live.events.filter((event) => !hidden.has(topicOf(event)))
  const shown = until === undefined ? wanted : wanted.filter(({ at }) => Date.parse(at) <= until)
  const toggle = (topic: Topic) => {
    const others = [...hidden].filter((one) => one !== topic)
    setHidden(new Set(hidden.has(topic) ? others : [...others, topic]))
  }
  return (
    <section class="live">
      <div class="bar">
        <h1>Live</h1>
        <span class="live-state" role="status">
          <span class={`dot ${live.isOpen ? 'dot-online' : ''}`} />
          {stateText(live)}
        </span>
        <fieldset class="toggles">
          <legend class="unseen">What is shown</legend>
          {TOPICS.map(({ topic, label }) => (
            <label key={topic} class={`toggle topic-${topic}`}>
              <input type="checkbox" checked={!hidden.has(topic)} onChange={() => toggle(topic)} />
              {label}
            </label>
          ))}
        </fieldset>
        {until !== undefined && (
          <button type="button" onClick={() => setUntil(undefined)}>
            Back to now
          </button>
        )}
      </div>
      {live.problem && (
        <p class="problem" role="alert">
          {live.problem}
        </p>
      )}
      <div class="live-body">
        <Histogram events={wanted} until={until} onUntil={setUntil} />
        {shown.length === 0 && !live.problem && (
          <p class="empty">Nothing happened yet. Logins, sessions, refusals, posture and routers appear here.</p>
        )}
        <EventList events={shown} />
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
