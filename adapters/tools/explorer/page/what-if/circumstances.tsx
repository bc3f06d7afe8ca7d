import { useState } from 'preact/hooks'
import { type Apis, type Explanation, explain, type Question } from '../api/apis.ts'
import { aboutNow, place, stay } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { Finder } from '../parts/finder.tsx'
import { useAnswer, useSettled } from '../parts/use-answer.ts'
import { useApis } from '../session/session.ts'
import { type Change, type Simulation, simulated } from './change.ts'
import { Pairs } from './pairs.tsx'
import { type Facts, NO_FACTS, PostureFields, reportsOf } from './posture-fields.tsx'

/** Shows the gains and losses by another posture or another time, together with the changes that are tried. */
export function Circumstances({ changes }: { changes: readonly Change[] }) {
  const apis = useApis()
  const { about } = place.value
  const [facts, setFacts] = useState<Facts>(NO_FACTS)
  const settled = useSettled(facts)
  const identity = about.get('identity') ?? undefined
  const service = about.get('service') ?? undefined
  const type = about.get('type') === 'Bind' ? 'Bind' : 'Dial'
  const asked: Question | undefined = identity && service ? { identity, service, type } : undefined
  const now = useAnswer((signal) => (asked ? explain(apis, asked, signal) : undefined), [apis, identity, service, type])
  const tried = useSettled(changes).flatMap(simulated)
  const assumed = reportsOf(settled)
  const then = useAnswer(
    (signal) => (asked ? explain(apis, { ...asked, ...assumed, changes: tried }, signal) : undefined),
    [apis, identity, service, type, settled, JSON.stringify(tried)],
  )
  const trial = useAnswer(
    (signal) =>
      Object.keys(assumed).length > 0
        ? simulate(apis, { changes: tried, ...(identity && { identities: [identity] }), ...assumed }, signal)
        : undefined,
    [apis, identity, settled, JSON.stringify(tried)],
  )
  const outcome = Object.keys(assumed).length > 0 ? trial.data : undefined
  const choose = (changed: { identity?: string; service?: string }) =>
    stay('what-if', { ...aboutNow('identity', 'service', 'type'), ...changed })
  return (
    <Card title="Another posture, another time">
      <div class="row">
        <Finder
          label="Identity"
          placeholder="Everybody"
          kinds={['identities']}
          text={now.data?.identity?.name ?? ''}
          onPick={({ id }) => choose({ identity: id })}
        />
        <Finder
          label="Service"
          kinds={['services']}
          text={now.data?.service?.name ?? ''}
          onPick={({ id }) => choose({ service: id })}
        />
      </div>
      <PostureFields facts={facts} onChange={setFacts} />
      {trial.problem && <p class="problem">{trial.problem}</p>}
      {outcome && <Pairs pairs={outcome.pairs} />}
      {outcome?.nextCursor && <p class="muted">Others may follow: choose an identity to see all of its own.</p>}
      {then.problem && <p class="problem">{then.problem}</p>}
      {now.data && then.data && (
        <dl class="facts before-after" aria-live="polite">
          <dt>Now</dt>
          <Answer explanation={now.data} />
          <dt>Then</dt>
          <Answer explanation={then.data} />
        </dl>
      )}
    </Card>
  )
}

function Answer({ explanation }: { explanation: Explanation }) {
  const { reason, allowed, text, policies } = explanation
  const failing = policies.flatMap(({ applies, checks }) => (applies ? checks.filter((check) => !check.isPassing) : []))
  const names = [...new Set(failing.map(({ name }) => name))]
  return (
    <dd class={reason === 'granted' ? 'gain' : allowed ? 'doubt' : 'loss'}>
      {text.split('\n')[0]}
      {!allowed && names.length > 0 && <span class="muted"> Failing: {names.join(', ')}.</span>}
    </dd>
  )
}

async function simulate({ portcullis }: Apis, body: Simulation, signal: AbortSignal) {
  return (await portcullis.call('POST /simulate', { body, signal })).data
}
