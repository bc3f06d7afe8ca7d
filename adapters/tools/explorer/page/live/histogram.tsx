import { type NetworkEvent, topicOf } from '../events/network-event.ts'
import { timeText } from '../parts/words.ts'

const BARS = 60
const BAR = { width: 10, gap: 2, height: 56 } as const

interface Props {
  /** Oldest first. */
  readonly events: readonly NetworkEvent[]
  /** The instant that is looked back at, epoch milliseconds; undefined for now. */
  readonly until: number | undefined
  readonly onUntil: (until: number | undefined) => void
}

/** How much happened when; a slider below goes back to any instant of it. */
export function Histogram({ events, until, onUntil }: Props) {
  const [first, last] = [events[0], events.at(-1)]
  if (first === undefined || last === undefined) return null
  const from = Date.parse(first.at)
  const to = Math.max(Date.parse(last.at), from + 1000)
  const step = (to - from) / BARS
  const bars = Array.from({ length: BARS }, () => ({ all: 0, refused: 0 }))
  for (const event of events) {
    const bar = bars[Math.min(BARS - 1, Math.floor((Date.parse(event.at) - from) / step))]
    if (bar === undefined) continue
    bar.all += 1
    if (topicOf(event) === 'refused') bar.refused += 1
  }
  const most = Math.max(...bars.map(({ all }) => all))
  const width = BARS * (BAR.width + BAR.gap)
  // By the root, so that one burst does not hide everything else.
  const heightOf = (count: number) => Math.sqrt(count / most) * BAR.height
  return (
    <div class="histogram">
      <svg viewBox={`0 0 ${width} ${BAR.height}`} preserveAspectRatio="none" role="img" aria-label="Events over time">
        {bars.map(({ all, refused }, place) => (
          <g key={place} class={until !== undefined && from + place * step > until ? 'is-later' : undefined}>
            <rect
              class="bar-all"
              x={place * (BAR.width + BAR.gap)}
              y={BAR.height - heightOf(all)}
              width={BAR.width}
              height={heightOf(all)}
            />
            <rect
              class="bar-refused"
              x={place * (BAR.width + BAR.gap)}
              y={BAR.height - heightOf(refused)}
              width={BAR.width}
              height={heightOf(refused)}
            />
          </g>
        ))}
      </svg>
      <label>
        <span class="unseen">Look back</span>
        <input
          type="range"
          min={from}
          max={to}
          step={Math.max(1, Math.floor(step / 4))}
          value={until ?? to}
          aria-valuetext={until === undefined ? 'now' : timeText(new Date(until).toISOString())}
          onInput={({ currentTarget }) => {
            const at = Number(currentTarget.value)
            onUntil(at >= to - step / 4 ? undefined : at)
          }}
        />
      </label>
      <p class="histogram-ends muted">
        <span>{timeText(first.at)}</span>
        <span>{until === undefined ? 'now' : `looking back at ${timeText(new Date(until).toISOString())}`}</span>
      </p>
    </div>
  )
}
