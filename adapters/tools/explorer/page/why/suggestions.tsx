import { grouped } from '../../../../../src/base/collections.ts'
import type { Apis, Explanation, Suggestion } from '../api/apis.ts'
import { type FormLink, formLink, policyFormLink } from '../forms/form-link.ts'
import { hrefOf } from '../navigation/place.ts'
import { hrefOfEntity, LinkedText } from '../parts/entity-link.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { numberText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { readAttributes } from '../what-if/read-entity.ts'
import { namedIn } from './verdict.tsx'

/** Shows every obstacle in order, with the steps against it and an act for each. Of several steps, the step that gives least to others comes first. */
export function Suggestions({ explanation }: { explanation: Explanation }) {
  const apis = useApis()
  const { suggestions, allowed, reason, identity, service, type } = explanation
  const gains = useAnswer(
    (signal) => {
      // Several suggestions are about one entity.
      const read = new Map<string, ReturnType<typeof readAttributes>>()
      const attributesOf = (kind: 'identities' | 'services', id: string) => {
        const asked = read.get(id) ?? readAttributes(apis, kind, id)
        read.set(id, asked)
        return asked
      }
      return Promise.all(suggestions.map((one) => readGain(apis, one, explanation, attributesOf, signal)))
    },
    [apis, JSON.stringify([identity?.id, service?.id, type, suggestions])],
  )
  const steps = suggestions.map((suggestion, place) => ({ suggestion, gain: gains.data?.[place] }))
  const obstacles = [...grouped(steps, ({ suggestion }) => obstacleOf(suggestion)).values()].map((of) =>
    of.toSorted((a, b) => (a.gain ?? Number.POSITIVE_INFINITY) - (b.gain ?? Number.POSITIVE_INFINITY)),
  )
  const untold = nearCount(explanation) - suggestions.filter(({ kind }) => kind === 'add-role-attributes').length
  return (
    <section class="card">
      <h2>
        {allowed && reason !== 'granted' ? 'What would let it connect' : 'What is missing'}
        {obstacles.length > 1 && `: ${numberText(obstacles.length)} steps`}
      </h2>
      {suggestions.length === 0 && (
        <p class="muted">{allowed ? 'Nothing.' : 'Nothing that a change of policies would give.'}</p>
      )}
      <ul class="suggestions" aria-busy={gains.isLoading}>
        {obstacles.map((of, number) =>
          of.map(({ suggestion, gain }, place) => {
            const act = actOf(suggestion, explanation)
            return (
              <li key={suggestion.text}>
                {obstacles.length > 1 && (
                  <span class="step muted">{place === 0 ? `${numberText(number + 1)}.` : 'or'}</span>
                )}
                <span>
                  <LinkedText text={suggestion.text} entities={namedIn(explanation)} />{' '}
                  {act && <a href={act.href}>{act.label}</a>}{' '}
                  {gain !== undefined && <span class={gain > 1 ? 'kind doubt' : 'kind'}>{gainText(gain)}</span>}
                </span>
              </li>
            )
          }),
        )}
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

/** Steps against one obstacle have the same text: any of them is enough. The checks of a policy must all pass. */
function obstacleOf({ kind, text }: Suggestion): string {
  const isOfPolicies = kind === 'add-role-attributes' || kind === 'create-service-policy' || kind === 'change-term'
  return isOfPolicies ? 'policies' : text
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

/** The act of a suggestion: a trial, a form that is filled in, or a page; undefined without one. */
function actOf(
  { kind, entities, roleAttributes }: Suggestion,
  { identity, service, type, hosts }: Explanation,
): FormLink | undefined {
  const [first] = entities
  if (kind === 'create-edge-router') return formLink('edge-routers', 'router', { name: 'edge router' })
  if (first === undefined) return undefined
  const asked = { identity: identity?.id, service: service?.id, type }
  const trial = (about: Readonly<Record<string, string>>) => ({
    label: 'Try it',
    href: hrefOf('what-if', { ...asked, ...about }),
  })
  const open = { label: 'Open it', href: hrefOfEntity(first.kind, first.id) }
  switch (kind) {
    case 'add-role-attributes':
      return trial({ change: 'attributes', of: first.kind, id: first.id, add: (roleAttributes ?? []).join(',') })
    case 'create-service-policy':
      return trial({ change: 'policy' })
    case 'pass-mfa':
    case 'fulfil-posture-check':
      return trial({ change: 'posture' })
    case 'enable-identity':
      return { label: 'Open it', href: hrefOf('manage', { kind: 'identities', id: first.id }) }
    case 'assign-edge-router-to-identity':
    case 'share-edge-router':
      return policyFormLink('routersOfIdentity', first)
    case 'assign-edge-router-to-service':
      return policyFormLink('routersOfService', first)
    case 'host-service':
      if (hosts?.mayBindCount !== 0) return { ...open, href: hrefOf('service', { id: first.id, tab: 'hosts' }) }
      return policyFormLink('host', first)
    case 'change-term':
      return { ...open, href: hrefOf('json', { kind: first.kind, id: first.id }) }
    case 'bring-edge-router-online':
      return open
    default:
      return undefined
  }
}

/** Reads how many pairs of identity and service a suggested step would give; undefined for steps that change no policies. */
async function readGain(
  apis: Apis,
  { kind, entities, roleAttributes = [] }: Suggestion,
  { type }: Explanation,
  attributesOf: (kind: 'identities' | 'services', id: string) => ReturnType<typeof readAttributes>,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (kind === 'create-service-policy') return 1
  const [entity] = entities
  if (kind !== 'add-role-attributes' || entity === undefined) return undefined
  const of = entity.kind === 'services' ? 'services' : 'identities'
  const { before } = await attributesOf(of, entity.id)
  const changed = { roleAttributes: [...before, ...roleAttributes] }
  const body = { changes: [{ kind: of, action: 'update' as const, id: entity.id, body: changed }], limit: 1 }
  const { data } = await apis.portcullis.call('POST /simulate', { body, signal })
  return data.counts?.[type === 'Bind' ? 'bind' : 'dial'].gained
}
