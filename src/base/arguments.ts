/** The form of a value, as it is checked before use. */
type Shape = 'boolean' | 'number' | 'string' | 'bytes' | 'function' | 'object' | 'array' | 'unknown'

/** A rule that checks more of an option than its form. */
interface DetailedRule {
  readonly shape?: Shape
  /** The accepted texts. */
  readonly oneOf?: readonly string[]
  /** Functions that the object must have. */
  readonly functions?: readonly string[]
  /** Members that the object may have; any when absent. */
  readonly members?: readonly string[]
  /** Further values that are accepted as they are. */
  readonly or?: readonly unknown[]
  readonly isNeeded?: true
  /** Words for the message that describe a valid value. */
  readonly hint?: string
  /** Finds another mistake in a value of the right form; undefined for a valid value. */
  readonly problem?: (value: never) => string | undefined
}

/** The rule of an argument, or of one of the options in it. */
export type OptionRule = Shape | DetailedRule

/** A rule for every option that a type declares. */
export type OptionRules<Options> = { readonly [Name in keyof Options]-?: OptionRule }

/**
 * Refuses options that the compiler would have refused, for callers without a compiler: a missing option, an unknown option, or a value of
 * the wrong type. Throws a `TypeError` that names the function and the option.
 */
export function checkOptions(
  owner: string,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>,
  wanted = 'an object',
): void {
  if (!isObject(options) || Array.isArray(options)) {
    throw new TypeError(`${owner} takes ${wanted}${options === undefined ? '' : `, not ${kindOf(options)}`}`)
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(rules, name)) throw new TypeError(`${name} is no option of ${owner}${meant(name, rules)}`)
  }
  for (const [name, rule] of Object.entries(rules)) checkArgument(owner, name, options[name], rule)
}

/** Refuses an argument that the compiler would have refused. Throws a `TypeError` that names the function and the argument. */
export function checkArgument(owner: string, name: string, value: unknown, given: OptionRule): void {
  const rule: DetailedRule = typeof given === 'string' ? { shape: given } : given
  const lacking = rule.isNeeded ? `${name} is needed: ${rule.hint ?? wordFor(rule)}` : undefined
  const problem = value === undefined ? lacking : problemOf(name, value, rule)
  if (problem !== undefined) throw new TypeError(`${owner}: ${problem}`)
}

function problemOf(name: string, value: unknown, rule: DetailedRule): string | undefined {
  if (rule.or?.includes(value)) return undefined
  const { shape = rule.oneOf === undefined ? 'object' : 'string', oneOf, functions, members, hint } = rule
  if (oneOf !== undefined) {
    return oneOf.some((one) => one === value)
      ? undefined
      : `${name} takes ${quotedAll(oneOf)}, not ${quotedValue(value)}`
  }
  if (!hasShape(value, shape)) {
    // A text in place of an object may be or hold a password.
    const found = PLAIN.includes(shape) ? quotedValue(value) : kindOf(value)
    return `${name} takes ${hint ?? wordFor(rule)}, not ${found}`
  }
  if (isObject(value)) {
    const lacking = functions?.find((method) => typeof value[method] !== 'function')
    if (lacking !== undefined)
      return `${name} takes ${hint ?? 'an object with functions'}: ${name}.${lacking} is missing`
    const unknown = Object.keys(value).find((member) => members?.includes(member) === false)
    if (unknown !== undefined) return `${name}.${unknown} is not there: ${name} has ${members?.join(', ')}`
  }
  // The form has been checked above.
  const wrong = rule.problem?.(value as never)
  return wrong === undefined ? undefined : `${name} ${wrong}`
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (shape === 'unknown') return true
  if (shape === 'bytes') return value instanceof Uint8Array
  if (shape === 'array') return Array.isArray(value)
  if (shape === 'object') return isObject(value)
  return typeof value === shape
}

const PLAIN: readonly Shape[] = ['boolean', 'number', 'string']

const WORDS: Readonly<Record<Shape, string>> = {
  boolean: 'a boolean',
  number: 'a number',
  string: 'a string',
  bytes: 'a Uint8Array',
  function: 'a function',
  object: 'an object',
  array: 'an array',
  unknown: 'a value',
}

function wordFor({ shape = 'object', oneOf }: DetailedRule): string {
  return oneOf === undefined ? WORDS[shape] : quotedAll(oneOf)
}

function quotedAll(texts: readonly string[]): string {
  return texts.map((text) => `'${text}'`).join(' or ')
}

/** A value in a message. A text that may be a secret is named by its kind only. */
function quotedValue(value: unknown): string {
  if (typeof value === 'string' && value.length <= 40) return `'${value}'`
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : kindOf(value)
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'array' : typeof value
}

/** Suggests the option whose name is nearest to an unknown name, or lists all options. */
function meant(name: string, rules: Readonly<Record<string, OptionRule>>): string {
  const names = Object.keys(rules)
  const near = nearest(name, names)
  if (near !== undefined) return `; ${near} is one`
  return names.length === 0 ? '; it takes none' : `; it takes ${names.join(', ')}`
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** The most similar of some names; undefined when no name is similar enough. */
function nearest(name: string, names: Iterable<string>): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), 3)
    if (distance <= Math.max(1, Math.floor(name.length / 3)) && distance < (best?.distance ?? 4)) {
      best = { name: candidate, distance }
    }
  }
  return best?.name
}

/** ` (did you mean 'payroll'?)`, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const meant = nearest(name, names)
  return meant === undefined ? '' : ` (did you mean '${meant}'?)`
}

/**
 * The number of letters to add, remove, change or swap with a neighbour to turn one text into the other. Distances above `most` are only
 * known to be above it.
 */
function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let earlier: readonly number[] = []
  let before: readonly number[] = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...one].entries()) {
    const row = [i + 1]
    for (const [j, candidate] of [...other].entries()) {
      const replaced = (before[j] ?? 0) + (letter === candidate ? 0 : 1)
      const isSwapped = i > 0 && j > 0 && letter === other[j - 1] && one[i - 1] === candidate
      const swapped = isSwapped ? (earlier[j - 1] ?? 0) + 1 : replaced
      row.push(Math.min(replaced, swapped, (before[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
    earlier = before
    before = row
  }
  return before.at(-1) ?? 0
}

/** Answers a number of the host's options; throws an `Error` that names the option when the number is not whole or out of range. */
export function requireInRange(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new Error(`${name} takes a whole number from ${least} to ${most}: not ${value}`)
}
