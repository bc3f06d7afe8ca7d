/** A condition by which lists of a kind may be narrowed. */
export interface FilterKey {
  readonly label: string
  /** The values to pick from; any text without them. */
  readonly values?: readonly string[]
  /** The condition in the filter language of the API; the value is a literal of it. */
  readonly condition: (literal: string, value: string) => string
}

/** The filters of a kind by their words: `online` of `online:no`. The filter of a text without a word is `name`. */
export type FilterKeys = Readonly<Record<string, FilterKey>>

/** One condition as a user writes it: `-attr:finance`. */
export interface Term {
  readonly key: string
  readonly value: string
  readonly isNot: boolean
}

const TERM = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g

/** The conditions in a text, in order. A text without a word of its own is a part of the name. */
export function termsIn(text: string): readonly Term[] {
  return [...text.matchAll(TERM)].map(([, not = '', key = 'name', quoted, plain = '']) => ({
    key,
    value: quoted ?? plain,
    isNot: not !== '',
  }))
}

/** A condition in the form in which it is written. */
export function textOf({ key, value, isNot }: Term): string {
  const isQuoted = value === '' || /[\s":]/.test(value) || (key === 'name' && value.startsWith('-'))
  const shown = isQuoted ? `"${value.replaceAll('"', '')}"` : value
  return `${isNot ? '-' : ''}${key === 'name' ? '' : `${key}:`}${shown}`
}

/** Why a condition names no filter of the kind; undefined for a good condition. */
export function problemOf({ key, value }: Term, keys: FilterKeys): string | undefined {
  const known = Object.hasOwn(keys, key) ? keys[key] : undefined
  if (known === undefined) return `There is no filter '${key}': there are ${Object.keys(keys).join(', ')}.`
  if (known.values === undefined || known.values.includes(value)) return undefined
  return `'${key}' is one of ${known.values.join(', ')}.`
}

/** The filter of the API that holds where all conditions hold; empty for none. */
export function conditionOf(terms: readonly Term[], keys: FilterKeys): string {
  return terms
    .map(({ key, value, isNot }) => {
      const condition = `(${keys[key]?.condition(JSON.stringify(value), value) ?? 'false'})`
      return isNot ? `(not ${condition})` : condition
    })
    .join(' and ')
}
