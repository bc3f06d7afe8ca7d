const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that is HTML already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Writes HTML: every value is escaped, unless it is HTML already. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const parts = strings.map((part, at) => `${part}${written(values[at])}`)
  return new Html(parts.join(''))
}

function written(value: string | Html | readonly Html[] | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
  return value instanceof Html ? value.text : value.map(({ text }) => text).join('')
}
