import { useId } from 'preact/hooks'
import { readList } from '../api/read-json.ts'
import { useAnswer } from '../parts/use-answer.ts'
import { plainly } from '../parts/words.ts'
import { useApis } from '../session/session.ts'

/** The kinds whose entities members name by id. */
const REFERENCES: Readonly<Record<string, string>> = {
  configTypeId: 'config-types',
  configs: 'configs',
  authPolicyId: 'auth-policies',
  enrollAuthPolicyId: 'auth-policies',
  requireExtJwtSigner: 'external-jwt-signers',
  allowedSigners: 'external-jwt-signers',
  identityId: 'identities',
  edgeRouterId: 'edge-routers',
  transitRouterId: 'transit-routers',
  caId: 'cas',
  service: 'services',
  router: 'edge-routers',
}

/** The kind that a member names by id; undefined for any other member. */
export function referenceOf(name: string): string | undefined {
  return REFERENCES[name]
}

interface Props {
  readonly name: string
  readonly label: string
  readonly value: unknown
  readonly isRequired: boolean
  readonly isList?: boolean
  readonly schema: { readonly description?: string }
  readonly onChange: (value: unknown) => void
}

/** A choice among the entities of a kind, by name. An id that is not listed can still be typed where there are more. */
export function ReferenceField({ name, label, value, isRequired, isList = false, schema, onChange }: Props) {
  const apis = useApis()
  const field = useId()
  const kind = REFERENCES[name] ?? ''
  const answer = useAnswer((signal) => readList(apis, kind, { limit: 100 }, signal), [apis, kind])
  const chosen = [value].flat().filter((one) => typeof one === 'string' && one !== '')
  const listed = answer.data?.rows ?? []
  const others = chosen
    .filter((one) => listed.every(({ id }) => id !== one))
    .map((id) => ({ id: String(id), name: String(id) }))
  const isLong = (answer.data?.total ?? 0) > listed.length
  const options = [...listed, ...others].map(({ id, name: shown }) => (
    <option key={id} value={id} selected={chosen.includes(id)}>
      {shown}
    </option>
  ))
  return (
    <div class="field">
      <label for={field}>{label}</label>
      {isLong && !isList ? (
        <input
          id={field}
          name={name}
          required={isRequired}
          placeholder="Id"
          autocomplete="off"
          value={String(chosen[0] ?? '')}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <select
          id={field}
          name={name}
          required={isRequired && !isList}
          multiple={isList}
          size={isList ? Math.max(2, Math.min(8, options.length)) : 1}
          onChange={({ currentTarget: { value, selectedOptions } }) =>
            onChange(isList ? [...selectedOptions].map((option) => option.value) : value)
          }
        >
          {!isList && <option value="" />}
          {options}
        </select>
      )}
      {answer.problem && <p class="problem">{answer.problem}</p>}
      {schema.description && <p class="hint">{plainly(schema.description)}</p>}
    </div>
  )
}
