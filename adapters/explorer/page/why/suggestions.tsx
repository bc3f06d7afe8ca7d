import type { Explanation, Suggestion } from '../api/explanation.ts'
import { hrefOf } from '../navigation/place.ts'

/** Shows the steps that would help, each with the way to try it before it is done. */
export function Suggestions({ explanation }: { explanation: Explanation }) {
  const { suggestions, allowed, identity, service, type } = explanation
  return (
    <section class="card">
      <h2>What is missing</h2>
      {suggestions.length === 0 && (
        <p class="muted">{allowed ? 'Nothing.' : 'Nothing that a change of policies would give.'}</p>
      )}
      <ul class="suggestions">
        {suggestions.map((suggestion) => {
          const href = hrefOfTrial(suggestion, identity?.id, service?.id, type)
          return (
            <li key={suggestion.text}>
              {suggestion.text} {href && <a href={href}>Try it</a>}
            </li>
          )
        })}
      </ul>
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
  return undefined
}
