import { useState } from 'preact/hooks'
import { type Apis, type Explanation, explain, type Question } from '../api/apis.ts'
import { aboutNow, place, stay } from '../navigation/place.ts'
import { Card } from '../parts/card.tsx'
import { Choice, TextInput, Toggle } from '../parts/fields.tsx'
import { Finder } from '../parts/finder.tsx'
import { useAnswer, useSettled } from '../parts/use-answer.ts'
import { instantOf, zoneText } from '../parts/words.ts'
import { useApis } from '../session/session.ts'
import { type Change, type Simulation, simulated } from './change.ts'
import { Pairs } from './outcome.tsx'

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

/** The assumed report of an endpoint; empty texts for parts that it did not report, and the instant as a field for local time has it. */
export const NO_FACTS = {
  domain: '',
  osType: '',
  osVersion: '',
  macAddresses: '',
  process: '',
  isMfaPassed: false,
  at: '',
}

export type Facts = Readonly<typeof NO_FACTS>

const OS_TYPES = ['Windows', 'WindowsServer', 'macOS', 'Linux', 'iOS', 'Android'].map((type) => [type, type] as const)

/** The circumstances that are assumed, in the words of a question. */
function reportsOf(facts: Facts): Pick<Question, 'posture' | 'mfa' | 'at'> {
  const id = 'assumed'
  const at = instantOf(facts.at)
  const macAddresses = facts.macAddresses.split(/[\s,]+/).filter((address) => address !== '')
  const posture: NonNullable<Question['posture']> = [
    ...(facts.domain === '' ? [] : [{ id, typeId: 'DOMAIN' as const, domain: facts.domain }]),
    ...(facts.osType === ''
      ? []
      : [{ id, typeId: 'OS' as const, type: facts.osType, version: facts.osVersion || '0' }]),
    ...(macAddresses.length === 0 ? [] : [{ id, typeId: 'MAC' as const, macAddresses }]),
    ...(facts.process === '' ? [] : [{ id, typeId: 'PROCESS' as const, path: facts.process, isRunning: true }]),
  ]
  return {
    ...(posture.length > 0 && { posture }),
    ...(facts.isMfaPassed && { mfa: true }),
    ...(at && { at }),
  }
}

/** Fields for the assumed posture of the endpoint, and for the time. */
function PostureFields({ facts, onChange }: { facts: Facts; onChange: (facts: Facts) => void }) {
  const field = (name: 'domain' | 'osVersion' | 'macAddresses' | 'process', label: string, placeholder: string) => (
    <TextInput
      label={label}
      value={facts[name]}
      placeholder={placeholder}
      spellcheck={false}
      onChange={(value) => onChange({ ...facts, [name]: value })}
    />
  )
  return (
    <div class="fields two">
      {field('domain', 'Domain', 'corp.example')}
      <Choice
        label="Operating system"
        value={facts.osType}
        of={[['', 'as reported'], ...OS_TYPES]}
        onChange={(osType) => onChange({ ...facts, osType })}
      />
      {field('osVersion', 'Version of the system', '6.1.0')}
      {field('macAddresses', 'MAC addresses', '02:00:00:00:00:01')}
      {field('process', 'Running process', '/usr/bin/agent')}
      <TextInput
        label={`At this time (${zoneText()})`}
        type="datetime-local"
        value={facts.at}
        onChange={(at) => onChange({ ...facts, at })}
      />
      <Toggle
        label="A second factor was just proved"
        isOn={facts.isMfaPassed}
        onChange={(isMfaPassed) => onChange({ ...facts, isMfaPassed })}
      />
    </div>
  )
}
