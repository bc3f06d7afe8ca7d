import { useRef } from 'preact/hooks'
import { visibleLine } from '../../../../../src/base/text.ts'
import { type Apis, type Explanation, explain } from '../api/apis.ts'
import { memberOf, readJson } from '../api/read-json.ts'
import { isOfAny, isOfIdentity, isOfKind, isOfNetwork } from '../events/network-event.ts'
import { aboutNow, go, hrefOf, place } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { Choice } from '../parts/fields.tsx'
import { Finder } from '../parts/finder.tsx'
import { Problem } from '../parts/loaded.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { useApis } from '../session/session.ts'
import { PathDrawing } from './path-drawing.tsx'
import { Suggestions } from './suggestions.tsx'
import { ExplanationSentences, Verdict } from './verdict.tsx'

/** Whether an identity may dial or bind a service, and why. */
export function WhyView() {
  const apis = useApis()
  const { about } = place.value
  const identity = about.get('identity') ?? undefined
  const service = about.get('service') ?? undefined
  const type = about.get('type') === 'Bind' ? 'Bind' : 'Dial'
  const answer = useAnswer(
    (signal) => (identity && service ? explain(apis, { identity, service, type }, signal) : undefined),
    [apis, identity, service, type],
    isOfAny(isOfNetwork, isOfKind('terminators'), isOfIdentity(identity)),
  )
  const ask = (changed: { identity?: string; service?: string; type?: string }) =>
    go('why', { ...aboutNow('identity', 'service', 'type'), ...changed })
  const explanation = identity && service ? answer.data : undefined
  const [whose, which] = useNames(apis, [identity, service], explanation)
  return (
    <section class="why">
      <div class="bar">
        <h1>Why</h1>
        <Finder label="Identity" kinds={['identities']} text={whose} onPick={({ id }) => ask({ identity: id })} />
        <Choice
          isInline
          isLabelUnseen
          label="Access"
          value={type}
          of={{ Dial: 'dials', Bind: 'binds' }}
          onChange={(value) => ask({ type: value })}
        />
        <Finder label="Service" kinds={['services']} text={which} onPick={({ id }) => ask({ service: id })} />
      </div>
      <Problem of={answer} />
      {!(identity && service) && (
        <div class="why-body">
          <Card title="Choose an identity and a service">
            <p>
              The controller says whether the one may reach the other, by which policies, posture checks and edge
              routers, and what is missing.
            </p>
            <p class="muted">
              Or begin with{' '}
              <a href={hrefOf('start', { finding: 'identities-without-services' })}>who reaches nothing</a>,{' '}
              <a href={hrefOf('start', { finding: 'services-without-identities' })}>what nobody reaches</a> or{' '}
              <a href={hrefOf('changes', { of: 'access' })}>who lost access lately</a>.
            </p>
          </Card>
        </div>
      )}
      {explanation && (
        <div class="why-body" data-results aria-busy={answer.isLoading}>
          <Verdict explanation={explanation} onAgain={answer.reload} />
          <PathDrawing explanation={explanation} />
          <div class="columns">
            <ExplanationSentences explanation={explanation} />
            <Suggestions explanation={explanation} />
          </div>
        </div>
      )}
    </section>
  )
}

/** The names of the entities that the address has by id. The explanation names both; one alone is asked for. */
function useNames(apis: Apis, ids: readonly (string | undefined)[], explanation: Explanation | undefined) {
  const known = useRef(new Map<string, string>())
  const [identity, service] = ids
  const [kind, alone] = identity ? ['identities', service ? undefined : identity] : ['services', service]
  const answer = useAnswer(
    (signal) => (alone === undefined ? undefined : readJson(apis, kind, alone, signal)),
    [apis, kind, alone],
  )
  for (const one of [answer.data, explanation?.identity, explanation?.service]) {
    if (one) known.current.set(String(memberOf(one, 'id')), String(memberOf(one, 'name')))
  }
  return ids.map((id) => visibleLine(known.current.get(id ?? '') ?? ''))
}
