import type { Question } from '../api/apis.ts'
import { Choice, TextInput, Toggle } from '../parts/fields.tsx'
import { instantOf, zoneText } from '../parts/words.ts'

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

const OS_TYPES = ['Windows', 'WindowsServer', 'macOS', 'Linux', 'iOS', 'Android']

/** The circumstances that are assumed, in the words of a question. */
export function reportsOf(facts: Facts): Pick<Question, 'posture' | 'mfa' | 'at'> {
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
export function PostureFields({ facts, onChange }: { facts: Facts; onChange: (facts: Facts) => void }) {
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
