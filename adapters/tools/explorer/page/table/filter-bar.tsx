import { useId, useState } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'
import { ChipList } from '../parts/chips-field.tsx'
import { Combobox, MOST_OF_A_KIND, type Option, type Options } from '../parts/combobox.tsx'
import { useApis } from '../session/session.ts'
import { type FilterKeys, problemOf, type Term, termsIn, textOf } from './filter-terms.ts'
import { showTerms } from './table-place.ts'

interface FilterOption extends Option {
  readonly term: Term
}

/** The conditions of a table: typed, or picked from what the kind has; each a chip that can be taken away. */
export function FilterBar({ kind, filters, terms }: { kind: string; filters: FilterKeys; terms: readonly Term[] }) {
  const apis = useApis()
  // A text that begins a condition stands in the field, to be gone on with.
  const id = useId()
  const [begun, setBegun] = useState('')
  const add = (more: readonly Term[]) => {
    const known = new Set(terms.map(textOf))
    showTerms([...terms, ...more.filter((term) => !known.has(textOf(term)))])
    setBegun('')
    return ''
  }
  return (
    <div class="filter-bar">
      <Combobox
        label="Filter"
        placeholder={Object.hasOwn(filters, 'attr') ? 'A name, attr:… or -attr:…' : 'A name'}
        text={begun}
        search={(text, signal) => searchTerms(apis, kind, filters, text, signal)}
        onPick={({ term }) => (term.value === '' ? `${term.isNot ? '-' : ''}${term.key}:` : add([term]))}
        onText={(text) => add(termsIn(text))}
      />
      <div>
        <label for={id}>Add a filter</label>
        <select
          id={id}
          value=""
          onChange={({ currentTarget }) => {
            const { value } = currentTarget
            currentTarget.value = ''
            if (value.endsWith(':')) {
              setBegun(value)
              currentTarget.closest('.filter-bar')?.querySelector('input')?.focus()
            } else add(termsIn(value))
          }}
        >
          <option value="">Choose…</option>
          {Object.entries(filters).map(([key, { label, values }]) =>
            values === undefined ? (
              key !== 'name' && (
                <option key={key} value={`${key}:`}>
                  {label}…
                </option>
              )
            ) : (
              <optgroup key={key} label={label}>
                {values.map((value) => (
                  <option key={value} value={`${key}:${value}`}>
                    {key}:{value}
                  </option>
                ))}
              </optgroup>
            ),
          )}
        </select>
      </div>
      <ChipList
        label="Filters"
        chips={terms.map((term) => {
          const text = textOf(term)
          return { value: text, name: text, isWrong: problemOf(term, filters) !== undefined }
        })}
        take={(name) => `Take the filter ${name} away`}
        onTake={(place) => showTerms(terms.toSpliced(place, 1))}
      />
    </div>
  )
}

/** Conditions that a text may become: the kind's own, and role attributes as they are there. */
async function searchTerms(
  { portcullis }: Apis,
  kind: string,
  filters: FilterKeys,
  text: string,
  signal: AbortSignal,
): Promise<Options<FilterOption>> {
  const [typed, further] = termsIn(text)
  // Several conditions at once are taken as they are.
  if (typed === undefined || further !== undefined) return { options: [], isPartial: false }
  const { key, value, isNot } = typed
  const word = key === 'name' ? value.toLowerCase() : ''
  const own = Object.entries(filters).flatMap(([name, { values }]): readonly Term[] => {
    if (name === 'name' || (word !== '' ? !name.startsWith(word) : name !== key)) return []
    if (values === undefined) return word === '' ? [] : [{ key: name, value: '', isNot }]
    return values.filter((one) => word !== '' || one.startsWith(value)).map((one) => ({ key: name, value: one, isNot }))
  })
  const named: readonly Term[] = value !== '' && problemOf(typed, filters) === undefined ? [typed] : []
  if (!Object.hasOwn(filters, 'attr') || value === '' || (key !== 'attr' && key !== 'name')) {
    return { options: optionsOf([...named, ...own], filters), isPartial: false }
  }
  const query = { q: `#${value.replace(/^#/, '')}`, limit: String(MOST_OF_A_KIND) }
  const { data } = await portcullis.call('GET /search', { query, signal })
  const attributes = data.roleAttributes
    .filter((found) => found.kind === kind)
    .map((found) => ({ key: 'attr', value: found.roleAttribute, isNot }))
  return { options: optionsOf([...named, ...own, ...attributes], filters), isPartial: data.isPartial }
}

function optionsOf(terms: readonly Term[], filters: FilterKeys): readonly FilterOption[] {
  const distinct = new Map(terms.map((term) => [textOf(term), term]))
  return [...distinct].map(([id, term]) => ({
    kind: term.key,
    id,
    name: id,
    words: filters[term.key]?.label ?? '',
    term,
  }))
}
