import { parseArgs } from 'node:util'
import { didYouMean } from '../../../../src/base/arguments.ts'
import { type Environment, type Setting, UsageError } from './usage.ts'

/** An option as it is declared once: parsing, help and completion follow from it. */
export interface OptionDeclaration {
  /** The choice that it makes, and its default, for help. */
  readonly summary: string
  /** The placeholder of its value in help, such as `FILE`; an option without one is a flag. */
  readonly value?: string
  /** Values to choose from, for completion. */
  readonly choices?: readonly string[]
  /** May be given several times; its variable lists values with commas between. */
  readonly repeatable?: true
  /** A variable of the environment stands for it: `PORTCULLIS_TRUST_DOMAIN` for `--trust-domain`. */
  readonly variable?: true
}

/** The options of a command by their names, without the dashes. */
export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>

/** The options of a command as they were given. */
export interface GivenOptions<Name extends string> {
  /** Whether a flag was given, else the value of its variable. Throws {@link UsageError} for a value other than `true` and `false`. */
  flag(name: Name): boolean
  /** Reads the typed value, else the variable that stands for it. Throws {@link UsageError} for an empty value. */
  setting(name: Name): Setting | undefined
  /** The value of the setting. */
  value(name: Name): string | undefined
  /** Reads the value that was typed on the command line itself. Throws {@link UsageError} for an empty value. */
  typed(name: Name): string | undefined
  /** Every value of an option that may be repeated. */
  settings(name: Name): readonly Setting[]
}

/** The arguments behind the name of a command. */
export interface GivenArguments<Name extends string> {
  readonly options: GivenOptions<Name>
  /** Arguments that are no options, in order. */
  readonly operands: readonly string[]
}

/**
 * Splits what follows the name of `command` into options and operands. Throws {@link UsageError} for an option that is not
 * declared, and for operands where the command takes none.
 */
export function readArguments<Declared extends OptionDeclarations>(
  declared: Declared,
  args: readonly string[],
  environment: Environment,
  { command, takesOperands }: { readonly command: string; readonly takesOperands: boolean },
): GivenArguments<keyof Declared & string> {
  const { values, positionals } = parse(declared, args, command, takesOperands)
  const given = new Map(Object.entries(values))
  const texts = (name: string): readonly string[] => {
    const found = given.get(name)
    return [found].flat().filter((value) => typeof value === 'string')
  }
  const typed = (name: string): string | undefined => {
    const value = texts(name).at(-1)
    if (value === '') throw new UsageError(`--${name} needs a value`)
    return value
  }
  const setting = (name: string): Setting | undefined => {
    const value = typed(name)
    if (value !== undefined) return { name: `--${name}`, value }
    return declared[name]?.variable ? variableOf(environment, name) : undefined
  }
  return {
    operands: positionals,
    options: {
      flag: (name) => given.get(name) === true || (declared[name]?.variable ? flagOf(environment, name) : false),
      setting,
      value: (name) => setting(name)?.value,
      typed,
      settings: (name) => {
        if (given.has(name)) return texts(name).map((value) => ({ name: `--${name}`, value }))
        const listed = setting(name)
        return listed === undefined ? [] : listed.value.split(',').map((value) => ({ ...listed, value: value.trim() }))
      },
    },
  }
}

/** The variable of the environment that stands for an option. */
export function variableName(option: string): string {
  return `PORTCULLIS_${option.toUpperCase().replaceAll('-', '_')}`
}

function variableOf(environment: Environment, option: string): Setting | undefined {
  const name = variableName(option)
  const value = environment[name]
  // Shells and compose files leave a variable out by an empty value.
  return value === undefined || value === '' ? undefined : { name, value }
}

function flagOf(environment: Environment, option: string): boolean {
  const setting = variableOf(environment, option)
  if (setting === undefined || setting.value === 'false') return false
  if (setting.value === 'true') return true
  throw new UsageError(`${setting.name} takes true or false, not '${setting.value}'`)
}

function parse(declared: OptionDeclarations, args: readonly string[], command: string, takesOperands: boolean) {
  const options = Object.fromEntries(
    Object.entries(declared).map(([name, { value, repeatable }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: repeatable ?? false },
    ]),
  )
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: takesOperands })
  } catch (error) {
    // The first sentence names the mistake; the others explain the parser.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s/)
    const [, unknown] = /^Unknown option '--([^']+)'/.exec(sentence) ?? []
    const meant = unknown === undefined ? '' : didYouMean(unknown, Object.keys(declared))
    throw new UsageError(`${sentence.replace(/\.$/, '')}${meant}; portcullis ${command} --help lists the options`, {
      cause: error,
    })
  }
}
