import type { Explanation } from '../api/explanation.ts'

/** Everything that the controller says of a decision beside what it suggests, one sentence in a line; what belongs to a policy stands below it. */
export function ExplanationSentences({ explanation: { text, suggestions } }: { explanation: Explanation }) {
  const suggested = new Set(suggestions.map((suggestion) => suggestion.text))
  const [, ...lines] = text.split('\n').filter((line) => !suggested.has(line))
  return (
    <section class="card">
      <h2>In words</h2>
      <ul class="sentences">
        {lines.map((line) => (
          <li key={line} class={line.startsWith('  ') ? 'is-below' : undefined}>
            {line.trim()}
          </li>
        ))}
      </ul>
    </section>
  )
}
