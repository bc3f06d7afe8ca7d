import { readFile } from 'node:fs/promises'
import { didYouMean } from '../../../../../src/base/arguments.ts'
import { type GivenOptions, type OptionDeclaration, variableName } from '../../command-line/options.ts'
import { type Environment, type Setting, UsageError } from '../../command-line/usage.ts'
import { SERVE_OPTIONS } from './option-declarations.ts'

type Values = Readonly<Record<string, unknown>>

/** Options that a file cannot give: they decide the use of the file. */
const NOT_IN_FILES: readonly string[] = ['config', 'check']

/** The options that a file may give, by their names. */
export const FILE_OPTIONS: ReadonlyMap<string, OptionDeclaration> = new Map(
  Object.entries<OptionDeclaration>(SERVE_OPTIONS).filter(([name]) => !NOT_IN_FILES.includes(name)),
)

/**
 * The options of `serve`, or of a command that shares some of them, with those of the file of `--config` behind them. Throws {@link
 * UsageError} with the file and the member for an unreadable file, an unknown option, and a value of another type.
 */
export async function withConfigFile<Name extends string>(
  options: GivenOptions<Name | 'config'>,
  environment: Environment,
): Promise<GivenOptions<Name | 'config'>> {
  const file = options.setting('config')
  if (file === undefined) return options
  const values = await readValues(file)
  for (const [name, value] of Object.entries(values)) requireFit(file.value, name, value)
  const isGiven = (name: string) => (environment[variableName(name)] ?? '') !== ''
  const texts = (name: string): readonly Setting[] => {
    const value = values[name]
    if (value === undefined || value === null) return []
    return [value].flat().map((one) => ({ name: `${file.value}: ${name}`, value: String(one) }))
  }
  const setting = (name: Name | 'config') => options.setting(name) ?? texts(name)[0]
  return {
    ...options,
    setting,
    typed: (name) => options.typed(name) ?? texts(name)[0]?.value,
    value: (name) => setting(name)?.value,
    flag: (name) => options.flag(name) || (!isGiven(name) && values[name] === true),
    settings: (name) => {
      const given = options.settings(name)
      return given.length > 0 ? given : texts(name)
    },
  }
}

async function readValues({ name, value: file }: Setting): Promise<Values> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${name}: ${file} cannot be read`, { cause: error })
  })
  const values = file.endsWith('.json') ? parsed(file, () => JSON.parse(text)) : await readYaml(file, text)
  if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { ...values }
  throw new UsageError(`${file} holds no options: it takes members such as listen: 0.0.0.0:1280`)
}

async function readYaml(file: string, text: string): Promise<unknown> {
  const yaml = await import('yaml').catch((error: unknown) => {
    throw new UsageError(`${file}: YAML takes the package yaml: npm install yaml, or write JSON`, { cause: error })
  })
  return parsed(file, () => yaml.parse(text))
}

function parsed(file: string, parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new UsageError(`${file}: ${line}`, { cause: error })
  }
}

function requireFit(file: string, name: string, value: unknown): void {
  const option = FILE_OPTIONS.get(name)
  if (option === undefined) {
    throw new UsageError(`${file}: there is no option ${name}${didYouMean(name, [...FILE_OPTIONS.keys()])}`)
  }
  const isText = (one: unknown) => (typeof one === 'string' && one !== '') || typeof one === 'number'
  const fits =
    value === null ||
    (option.value === undefined
      ? typeof value === 'boolean'
      : isText(value) || (option.repeatable === true && Array.isArray(value) && value.every(isText)))
  if (fits) return
  const wanted =
    option.value === undefined ? 'true or false' : option.repeatable ? 'a text or a list of texts' : 'a text'
  throw new UsageError(`${file}: ${name} takes ${wanted}, not ${JSON.stringify(value)}`)
}

/** The JSON Schema of such a file, for editors. */
export function configSchema(): object {
  const properties = [...FILE_OPTIONS].map(([name, { value, summary, choices, repeatable }]) => {
    const text = choices === undefined ? { type: ['string', 'number'] } : { enum: choices }
    const list = { type: 'array', items: text }
    const schema = value === undefined ? { type: 'boolean' } : repeatable ? { anyOf: [text, list] } : text
    return [name, { description: summary, ...schema }] as const
  })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Options of portcullis serve',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  }
}
