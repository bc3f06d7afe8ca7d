interface Place {
  /** The token as it is written. */
  readonly text: string
  /** Where it begins, in characters from the start of the filter. */
  readonly at: number
  /** How many white-space characters stand before it. */
  readonly gap: number
}

/** One word of a filter text. `quoted` is an identifier in single quotes, which belong to its name. */
export type Token = Place &
  (
    | { readonly kind: 'word' | 'quoted' | 'symbol' | 'end' }
    | { readonly kind: 'string'; readonly value: string }
    | { readonly kind: 'number' | 'datetime'; readonly value: number }
  )

const KEYWORDS: ReadonlySet<string> = new Set(
  'and or not in between contains icontains true false allof anyof count isempty null asc desc sort by skip limit none from where'.split(
    ' ',
  ),
)

/** Reports whether a word is a keyword, in any case, and so cannot name a symbol. */
export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word.toLowerCase())
}
