import type { CheckExplanation, Explanation } from '../api/apis.ts'
import { Card } from '../parts/card.tsx'
import { EntityLink, LinkedText, type Named, Time } from '../parts/entity-link.tsx'
import { kindName, timeText, untilText, zoneText } from '../parts/words.ts'

/** The answer in one sentence, and its end in time. */
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
        {explanation.since && <Since since={explanation.since} />}
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

/** The beginning of the access, and the actor of the change that gave it. */
function Since({ since: { by, at, policy, change } }: { since: NonNullable<Explanation['since']> }) {
  return (
    <p class="verdict-time">
      <EntityLink kind="service-policies" {...policy} /> grants it since <Time at={at} />
      {by === 'before' && ' or longer: the audit trail tells of nothing earlier.'}
      {by === 'time' && ', when the time ended for which the identity was disabled.'}
      {change && (
        <>
          , when {change.actor ? <EntityLink kind="identities" {...change.actor} /> : 'the controller or its host'}{' '}
          {change.type === 'entity.created' ? 'created' : 'changed'} {kindName(change.entity.kind)}{' '}
          <EntityLink {...change.entity} />.
        </>
      )}
    </p>
  )
}

/** When time alone changes the answer. */
function changesText({ holdsUntil, changesAt, policies, allowed }: Explanation): string {
  if (allowed && holdsUntil !== null && policies.some(({ grants, term }) => grants && term?.until === holdsUntil))
    return `Ends ${untilText(holdsUntil)} by the term of the policy.`
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

/**
 * The controller's explanation of a decision without its suggestions, one sentence in a line; the sentences about a policy stand below it.
 */
export function ExplanationSentences({ explanation }: { explanation: Explanation }) {
  const { text, suggestions } = explanation
  const suggested = new Set(suggestions.map((suggestion) => suggestion.text))
  const [, ...lines] = text.split('\n').filter((line) => !suggested.has(line))
  return (
    <Card title="In words">
      <ul class="sentences">
        {lines.map((line) => (
          <li key={line} class={line.startsWith('  ') ? 'is-below' : undefined}>
            <LinkedText text={line.trim()} entities={namedIn(explanation)} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The entities that the sentences of an explanation may name. */
export function namedIn({ identity, service, policies, edgeRouters, hosts, since }: Explanation): readonly Named[] {
  const of = (kind: string, some: readonly { readonly id: string; readonly name: string | null }[]) =>
    some.map(({ id, name }) => ({ kind, id, name: name ?? id }))
  return [
    ...of('identities', [...(identity ? [identity] : []), ...(hosts?.hosts ?? [])]),
    ...of('services', service ? [service] : []),
    ...of('service-policies', policies),
    ...of(
      'posture-checks',
      policies.flatMap(({ checks }) => checks),
    ),
    ...of('edge-routers', edgeRouters.common),
    ...(since?.change?.actor ? of('identities', [since.change.actor]) : []),
  ]
}
