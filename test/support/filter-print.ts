import type { Filter, Literal, Operand } from 'portcullis/storage'

/** How a filter is spelled where the language leaves a choice; asked once per choice, answers 0 up to `choices` - 1. */
export type Choose = (choices: number) => number

/** The symbol of a stored field, and whether its numbers are instants. */
export type SymbolOf = (field: string) => { readonly symbol: string; readonly isInstant: boolean }

/** Writes a filter down as a text that states the same; written from the grammar alone, apart from the parser. */
export function printFilter(filter: Filter, symbolOf: SymbolOf, choose: Choose): string {
  return new Printer(symbolOf, choose).condition(filter)
}

const SPACES = [' ', '  ', '\t', ' \n', '\r\n ']
const ESCAPES: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

class Printer {
  readonly #symbolOf: SymbolOf
  readonly #choose: Choose

  constructor(symbolOf: SymbolOf, choose: Choose) {
    this.#symbolOf = symbolOf
    this.#choose = choose
  }

  condition(filter: Filter): string {
    const text = this.#bare(filter)
    return this.#choose(6) === 0 ? `(${this.#maybe()}${text}${this.#maybe()})` : text
  }

  #bare(filter: Filter): string {
    switch (filter.kind) {
      case 'all':
        return this.#word('true')
      case 'not':
        return this.#not(filter.of)
      case 'and':
      case 'or':
        return [this.#left(filter.left), this.#word(filter.kind), this.condition(filter.right)].join(this.#space())
      case 'compare':
        return this.#comparison(filter)
      case 'isEmpty':
        return `${this.#word('isEmpty')}(${this.#set(filter.field, filter.where)})`
      default:
        return this.#wordOperation(filter, filter.operand, '')
    }
  }

  /** On the left of `and` and `or` a `not`, an `and` or an `or` would take in everything to its right. */
  #left(filter: Filter): string {
    const isSingle = filter.kind !== 'and' && filter.kind !== 'or' && filter.kind !== 'not'
    return isSingle ? this.condition(filter) : `(${this.#bare(filter)})`
  }

  #not(of: Filter): string {
    if (of.kind === 'all' && this.#choose(2) === 0) return this.#word('false')
    const prefix = () => this.#word('not') + this.#space() + this.condition(of)
    if (this.#choose(2) === 0) return prefix()
    if (of.kind === 'in') return this.#wordOperation(of, of.operand, `${this.#word('not')} `)
    if (of.kind === 'between') return this.#wordOperation(of, of.operand, this.#word('not') + this.#space())
    if (of.kind === 'contains') return this.#wordOperation(of, opposite(of.operand), this.#word('not') + this.#space())
    return prefix()
  }

  #comparison({ operand, operator, value }: Extract<Filter, { kind: 'compare' }>): string {
    const left = this.#operand(operand)
    const isBare = operand.kind === 'field' && operator === '=' && value === true && this.#choose(2) === 0
    return isBare ? left : left + this.#maybe() + operator + this.#maybe() + this.#literal(operand, value)
  }

  #wordOperation(filter: Extract<Filter, { kind: 'in' | 'between' | 'contains' }>, of: Operand, not: string): string {
    const right = (): string[] => {
      if (filter.kind === 'contains')
        return [this.#word(filter.foldCase ? 'icontains' : 'contains'), quote(filter.text)]
      if (filter.kind === 'in') return [this.#word('in'), this.#array(of, [...filter.values])]
      const { from, to } = filter
      return [this.#word('between'), this.#literal(of, from), this.#word('and'), this.#literal(of, to)]
    }
    const [word = '', ...rest] = right()
    return [this.#operand(of), not + word, ...rest].join(this.#space())
  }

  #array(operand: Operand, values: readonly Literal[]): string {
    const items = values.map((value) => this.#maybe() + this.#literal(operand, value) + this.#maybe())
    return `[${items.join(',')}]`
  }

  #operand(operand: Operand): string {
    if (operand.kind === 'field') return this.#symbolOf(operand.field).symbol
    if (operand.kind === 'json') return [this.#symbolOf(operand.field).symbol, ...operand.path].join('.')
    return `${this.#word(operand.kind)}(${this.#set(operand.field, operand.kind === 'count' ? operand.where : undefined)})`
  }

  #set(field: string, where: Filter | undefined): string {
    const { symbol } = this.#symbolOf(field)
    if (where === undefined) return this.#maybe() + symbol + this.#maybe()
    return [this.#word('from'), symbol, this.#word('where'), this.condition(where)].join(this.#space())
  }

  #literal(operand: Operand, value: Literal): string {
    if (typeof value === 'string') return quote(value)
    if (typeof value !== 'number') return this.#word(String(value))
    const isInstant = operand.kind === 'field' && this.#symbolOf(operand.field).isInstant
    return isInstant ? `datetime(${this.#maybe()}${this.#instant(value)}${this.#maybe()})` : this.#number(value)
  }

  /** Any offset names the same instant. */
  #instant(value: number): string {
    const [sign, minutes] = this.#choose(2) === 0 ? ['+', 90] : ['-', -90]
    if (this.#choose(2) === 0) return new Date(value).toISOString()
    return new Date(value + Number(minutes) * 60_000).toISOString().replace('Z', `${sign}01:30`)
  }

  #number(value: number): string {
    return this.#choose(3) === 0 ? value.toExponential() : String(value)
  }

  #word(word: string): string {
    return [word, word.toUpperCase(), word.toLowerCase()][this.#choose(3)] ?? word
  }

  #space(): string {
    return SPACES[this.#choose(SPACES.length)] ?? ' '
  }

  #maybe(): string {
    return this.#choose(2) === 0 ? '' : this.#space()
  }
}

function opposite(operand: Operand): Operand {
  if (operand.kind === 'anyOf') return { kind: 'allOf', field: operand.field }
  return operand.kind === 'allOf' ? { kind: 'anyOf', field: operand.field } : operand
}

function quote(text: string): string {
  return `"${Array.from(text, (character) => ESCAPES[character] ?? character).join('')}"`
}
