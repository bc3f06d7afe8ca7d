import type { Apis } from '../api/apis.ts'
import type { Explanation, Suggestion } from '../api/explanation.ts'
import { hrefOf } from '../navigation/place.ts'
import { numberText } from '../parts/number-text.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { readAttributes } from '../what-if/read-entity.ts'

/** Shows the steps that would help, each with a way to try it first. The step that gives least to others comes first. */
export function Suggestions({ apis, explanation }: { apis: Apis; explanation: Explanation }) {
  const { suggestions, allowed, reason, identity, service, type } = explanation
  const gains = useAnswer(
    (signal) => Promise.all(suggestions.map((suggestion) => readGain(apis, suggestion, explanation, signal))),
    [apis, JSON.stringify([identity?.id, service?.id, type, suggestions])],
  )
  const steps = suggestions
    .map((suggestion, place) => ({ suggestion, gain: gains.data?.[place] }))
    .sort((a, b) => (a.gain ?? Number.POSITIVE_INFINITY) - (b.gain ?? Number.POSITIVE_INFINITY))
  const untold = nearCount(explanation) - suggestions.filter(({ kind }) => kind === 'add-role-attributes').length
  return (
    <section class="card">
      <h2>{allowed && reason !== 'granted' ? 'What would let it connect' : 'What is missing'}</h2>
      {suggestions.length === 0 && (
        <p class="muted">{allowed ? 'Nothing.' : 'Nothing that a change of policies would give.'}</p>
      )}
      <ul class="suggestions" aria-busy={gains.isLoading}>
        {steps.map(({ suggestion, gain }) => {
          const href = hrefOfTrial(suggestion, identity?.id, service?.id, type)
          return (
            <li key={suggestion.text}>
              {suggestion.text} {href && <a href={href}>Try it</a>}{' '}
              {gain !== undefined && <span class={gain > 1 ? 'reach reach-wide' : 'reach'}>{gainText(gain)}</span>}
            </li>
          )
        })}
      </ul>
      {untold > 0 && (
        <p class="muted">
          These are the nearest: {numberText(untold)} more {untold === 1 ? 'policy selects' : 'policies select'} one of
          the two, and would select both by other role attributes.
        </p>
      )}
      {identity && service && (
        <p>
          <a href={hrefOf('what-if', { identity: identity.id, service: service.id, type })}>
            What if something were different?
          </a>
        </p>
      )}
    </section>
  )
}

/** The number of policies that would select both, if either had other role attributes; few of them are suggested. */
function nearCount({ policies, type, reason }: Explanation): number {
  if (reason !== 'no-policy-for-pair' && reason !== 'only-other-type') return 0
  return policies.filter(({ type: granted, identitySide, serviceSide }) => {
    const lacking = identitySide.selects ? serviceSide.lacking : identitySide.lacking
    return granted === type && identitySide.selects !== serviceSide.selects && lacking.length > 0
  }).length
}

function gainText(gain: number): string {
  return gain <= 1 ? 'gives this access and no other' : `+${numberText(gain - 1)} other${gain === 2 ? '' : 's'}`
}

/** Where a suggestion can be tried; undefined where trying it is not a change of the network. */
function hrefOfTrial(
  { kind, entities, roleAttributes }: Suggestion,
  identity: string | undefined,
  service: string | undefined,
  type: string,
): string | undefined {
  const [first] = entities
  const asked = { identity, service, type }
  if (kind === 'add-role-attributes' && first && roleAttributes)
    return hrefOf('what-if', {
      ...asked,
      change: 'attributes',
      of: first.kind,
      id: first.id,
      add: roleAttributes.join(','),
    })
  if (kind === 'create-service-policy') return hrefOf('what-if', { ...asked, change: 'policy' })
  if (kind === 'pass-mfa') return hrefOf('what-if', { ...asked, change: 'posture' })
  if (kind === 'fulfil-posture-check') return hrefOf('what-if', { ...asked, change: 'posture' })
  if (kind === 'host-service' && first) return hrefOf('service', { id: first.id, tab: 'hosts' })
  return undefined
}

/** Reads how many pairs of identity and service a suggested step would give; undefined for steps that change no policies. */
async function readGain(
  apis: Apis,
  { kind, entities, roleAttributes = [] }: Suggestion,
  { type }: Explanation,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (kind === 'create-service-policy') return 1
  const [entity] = entities
  if (kind !== 'add-role-attributes' || entity === undefined) return undefined
  const of = entity.kind === 'services' ? 'services' : 'identities'
  const { before } = await readAttributes(apis, of, entity.id)
  const changed = { roleAttributes: [...before, ...roleAttributes] }
  const body = { changes: [{ kind: of, action: 'update' as const, id: entity.id, body: changed }], limit: 1 }
  const { data } = await apis.portcullis.call('POST /simulate', { body, signal })
  return data.counts?.[type === 'Bind' ? 'bind' : 'dial'].gained
}
