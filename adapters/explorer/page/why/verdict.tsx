import type { CheckExplanation, Explanation } from '../api/explanation.ts'
import { timeText, untilText, zoneText } from '../parts/time-text.ts'

/** The answer in one sentence, and until when it holds. */
export function Verdict({ explanation, onAgain }: { explanation: Explanation; onAgain: () => void }) {
  const { allowed, reason, text, at } = explanation
  const [sentence] = text.split('\n')
  const tone = allowed ? (reason === 'granted' ? 'good' : 'warn') : 'bad'
  return (
    <div class={`verdict verdict-${tone}`} role="status">
      <span class="verdict-mark" aria-hidden="true">
        {tone === 'good' ? '✓' : tone === 'warn' ? '!' : '✕'}
      </span>
      <div>
        <p class="verdict-text">{sentence}</p>
        <p class="verdict-time">
          {changesText(explanation)} Judged at <time dateTime={at}>{timeText(at)}</time> {zoneText()}.
        </p>
      </div>
      <button type="button" onClick={onAgain}>
        Ask again
      </button>
    </div>
  )
}

/** When time alone changes the answer. */
function changesText({ holdsUntil, changesAt, policies, allowed }: Explanation): string {
  if (allowed && holdsUntil !== null)
    return `Ends ${untilText(holdsUntil)} unless the endpoint proves itself anew${byWhom(policies)}.`
  if (changesAt !== null) return `May change by itself ${untilText(changesAt)}.`
  return allowed ? 'Time alone does not end it.' : 'Time alone does not change it.'
}

function byWhom(policies: Explanation['policies']): string {
  const ending = policies.flatMap(({ grants, checks }) => (grants ? checks.filter(endsByItself) : []))
  const names = [...new Set(ending.map(({ name }) => name))]
  return names.length === 0 ? '' : ` (${names.join(', ')})`
}

function endsByItself({ holdsUntil }: CheckExplanation): boolean {
  return holdsUntil !== null
}
