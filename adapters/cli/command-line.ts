import { parseArgs } from 'node:util'
import type { Environment, Setting } from './setting.ts'
import { UsageError } from './usage-error.ts'

type OptionName = keyof typeof declared
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const declared = {
  listen: text,
  advertise: text,
  'control-listen': text,
  'control-advertise': text,
  storage: text,
  'table-prefix': text,
  schema: text,
  pki: text,
  'server-cert': text,
  'server-key': text,
  ca: text,
  'signing-cert': text,
  'signing-key': text,
  'trust-domain': text,
  compat: text,
  'rate-limits': text,
  limits: text,
  oidc: text,
  'cors-origin': { type: 'string', multiple: true },
  help: flag,
  version: flag,
} as const

/** The options of `serve` as they were typed. */
export type TypedOptions = ReturnType<typeof parseServeArgs>

/** An option of `serve` that takes a value. */
export type ValueOption = Exclude<OptionName, 'cors-origin' | 'help' | 'version'>

/** Splits the arguments after `serve` into options. Throws {@link UsageError} for anything that is not declared. */
export function parseServeArgs(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: declared, strict: true }).values
  } catch (error) {
    // The first sentence says what is wrong; the others explain the parser.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s/)
    throw new UsageError(`${sentence.replace(/\.$/, '')}; portcullis --help lists the options`, { cause: error })
  }
}

/** The value of an option, undefined when it was not typed. Throws {@link UsageError} for an empty one. */
export function optionValue(typed: TypedOptions, option: ValueOption): string | undefined {
  const value = typed[option]
  if (value === '') throw new UsageError(`--${option} needs a value`)
  return value
}

/** An option, else the environment variable that stands for it: `PORTCULLIS_TRUST_DOMAIN` for `--trust-domain`. */
export function settingOf(typed: TypedOptions, environment: Environment, option: ValueOption): Setting | undefined {
  const given = optionValue(typed, option)
  if (given !== undefined) return { name: `--${option}`, value: given }
  return variableOf(environment, option)
}

/** Each value of an option that may be given several times, else those that its variable lists, separated by commas. */
export function settingsOf(typed: TypedOptions, environment: Environment, option: 'cors-origin'): readonly Setting[] {
  const given = typed[option]
  if (given !== undefined) return given.map((value) => ({ name: `--${option}`, value }))
  const listed = variableOf(environment, option)
  return listed === undefined ? [] : listed.value.split(',').map((value) => ({ ...listed, value: value.trim() }))
}

/** What stands in the environment for an option; undefined for a variable that is empty. */
export function variableOf(environment: Environment, option: OptionName): Setting | undefined {
  const name = `PORTCULLIS_${option.toUpperCase().replaceAll('-', '_')}`
  const value = environment[name]
  // An empty variable is how a shell or a compose file leaves one out.
  return value === undefined || value === '' ? undefined : { name, value }
}
