import { useState } from 'preact/hooks'
import type { ManagementApi, RequestOf } from '../../../../../src/client/index.ts'
import type { Apis } from '../api/apis.ts'
import { type Lasting, LastingFields, secondsOf } from './lasting-fields.tsx'
import { NewEntityForm } from './new-entity-form.tsx'

type CheckBody = NonNullable<RequestOf<ManagementApi['POST /posture-checks']>['body']>

type TypeId = CheckBody['typeId']

/** How each type of check is asked for, which the compiler completes. */
const FORMS: { readonly [T in TypeId]: { readonly label: string; readonly asks: string; readonly example: string } } = {
  DOMAIN: { label: 'Domain', asks: 'Domains, one in a line', example: 'corp.example' },
  OS: { label: 'Operating system', asks: 'Systems with versions, one in a line', example: 'Linux >=5.15.0' },
  MAC: { label: 'MAC address', asks: 'Addresses, one in a line', example: '02:00:00:00:00:01' },
  MFA: { label: 'Second factor', asks: 'For how long it counts', example: '' },
  PROCESS: { label: 'Running process', asks: 'System and path', example: 'Linux /usr/bin/agent' },
  PROCESS_MULTI: {
    label: 'Several running processes',
    asks: 'Systems and paths, one in a line: all of them must run',
    example: 'Linux /usr/bin/agent',
  },
}
// The keys of the forms are the types.
const TYPES = Object.entries(FORMS).map(([id, form]) => ({ id: id as TypeId, ...form }))

interface Props {
  readonly apis: Apis
  readonly onCreated: (id: string) => void
}

/** Creates a posture check. */
export function CreateCheck({ apis, onCreated }: Props) {
  const [typeId, setTypeId] = useState<TypeId>('DOMAIN')
  const [asked, setAsked] = useState('')
  const [lasting, setLasting] = useState<Lasting>({ amount: '1', unit: 'hours' })
  const type = FORMS[typeId]
  return (
    <NewEntityForm
      apis={apis}
      kind="posture-checks"
      onCreated={onCreated}
      create={async (named) => {
        const body: CheckBody = { ...named, ...askedOf(typeId, asked, lasting) }
        return (await apis.management.call('POST /posture-checks', { body })).data.id
      }}
    >
      <label>
        Type
        <select
          value={typeId}
          onChange={({ currentTarget }) =>
            setTypeId(TYPES.find(({ id }) => id === currentTarget.value)?.id ?? 'DOMAIN')
          }
        >
          {TYPES.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {typeId === 'MFA' ? (
        <LastingFields label={type.asks} lasting={lasting} onChange={setLasting} />
      ) : (
        <label>
          {type.asks}
          <textarea
            rows={3}
            required
            placeholder={type.example}
            value={asked}
            onInput={({ currentTarget }) => setAsked(currentTarget.value)}
          />
        </label>
      )}
    </NewEntityForm>
  )
}

/** Reads the conditions of a check from lines of text. The controller refuses invalid conditions. */
function askedOf(typeId: TypeId, text: string, lasting: Lasting) {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const [first = ''] = lines
  switch (typeId) {
    case 'DOMAIN':
      return { typeId, domains: lines }
    case 'MAC':
      return { typeId, macAddresses: lines }
    case 'MFA':
      return { typeId, timeoutSeconds: secondsOf(lasting) }
    case 'OS':
      return {
        typeId,
        operatingSystems: lines.map((line) => {
          const [type, versions] = firstWord(line)
          return { type: osType(type), versions: versions === '' ? [] : [versions] }
        }),
      }
    case 'PROCESS':
      return { typeId, process: processOf(first) }
    case 'PROCESS_MULTI':
      return { typeId, semantic: 'AllOf' as const, processes: lines.map(processOf) }
  }
}

type OsType = 'Windows' | 'WindowsServer' | 'macOS' | 'Linux' | 'iOS' | 'Android'

/** The controller refuses an unknown system, and names it. */
function osType(word: string): OsType {
  return word as OsType
}

function processOf(line: string): { readonly osType: OsType; readonly path: string } {
  const [type, path] = firstWord(line)
  return { osType: osType(type), path }
}

function firstWord(line: string): [string, string] {
  const end = line.search(/\s/)
  return end < 0 ? [line, ''] : [line.slice(0, end), line.slice(end).trim()]
}
