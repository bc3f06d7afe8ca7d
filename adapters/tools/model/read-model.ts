import { readFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hidesText, visible } from '../../../src/base/text.ts'
import {
  MODEL_KINDS,
  type Model,
  ModelError,
  type Network,
  type NetworkModel,
  readSources,
  type Source,
} from '../../../src/model/index.ts'
import { moduleSource } from './module-source.ts'
import { yamlPackage, yamlSource } from './yaml-source.ts'

/**
 * A file by its name, a text in YAML, alone or with the name that messages give it, or a model that a program made. A string with several
 * lines, or with a key at its beginning, is a text.
 */
export type ModelInput = string | { readonly name: string; readonly text: string } | NetworkModel

/**
 * Reads model files, texts or objects as one model: each may refer to entities of the others. Files end in `.yaml`, `.yml` (with the
 * package `yaml` installed), `.json`, or `.ts`, `.mts`, `.js`, `.mjs` with the model as default export. Rejects with {@link ModelError},
 * which lists every mistake with file, line and column, and why a file cannot be read.
 *
 * @example
 * const model = await readModel('network.yaml', 'assertions.yaml')
 */
export async function readModel(...inputs: readonly ModelInput[]): Promise<Model> {
  const sources: Source[] = []
  for (const input of inputs) sources.push(await sourceOf(input))
  return readSources(sources)
}

async function sourceOf(input: ModelInput): Promise<Source> {
  if (typeof input !== 'string') return isText(input) ? yamlText(input.name, input.text) : plainSource('model', input)
  if (isYaml(input)) return yamlText('model', input)
  const extension = extname(input).toLowerCase()
  if (extension === '.yaml' || extension === '.yml') return yamlText(input, await textIn(input))
  if (extension === '.json') return jsonText(input, await textIn(input))
  if (/^\.[cm]?[jt]s$/.test(extension)) return moduleSource(input, await textIn(input), await defaultExport(input))
  throw mistake(input, 'is no model file: its name must end in .yaml, .yml, .json, .ts, .mts, .js or .mjs')
}

/** Distinguishes a model from the name of a file: a name has one line, and no key before a colon and a blank. */
function isYaml(input: string): boolean {
  return input.trim().includes('\n') || /^\s*(?:[{]|[\w-]+:(?:\s|$))/.test(input)
}

async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw mistake(file, whyUnreadable(file, error))
  }
}

function whyUnreadable(file: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // A relative name means another file in another folder: the usual reason for a missing file.
  if (code === 'ENOENT')
    return `there is no such file in ${dirname(resolve(file))}: check the name, or begin in another folder`
  if (code === 'EISDIR') return 'is a folder: name a file in it'
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`
}

function isText(input: object): input is { readonly name: string; readonly text: string } {
  return 'text' in input && typeof input.text === 'string'
}

async function yamlText(name: string, text: string): Promise<Source> {
  const yaml = await yamlPackage()
  if (yaml === undefined) throw mistake(name, 'cannot be read without the package yaml: npm install yaml')
  return yamlSource(yaml, name, text)
}

/** JSON is YAML as well, and only the reader of YAML reports lines. */
async function jsonText(name: string, text: string): Promise<Source> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const before = text.slice(0, jsonOffset(message, text)).split('\n')
    const place = { file: name, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
    const said = message.replace(/ at position \d+.*/, '').replace(/, (\.\.\.)?".*/s, '')
    throw new ModelError([{ place, subject: '', message: `is no JSON: ${said}` }])
  }
  const yaml = await yamlPackage()
  return yaml === undefined ? plainSource(name, value) : yamlSource(yaml, name, text)
}

/** The place where a text stops being JSON. A runtime reports the position, or shows ten characters on either side of it. */
function jsonOffset(message: string, text: string): number {
  const position = / at position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return Number(position)
  const [, cut, shown] = /, (\.\.\.)?"(.*?)"(?:\.\.\.)? is not valid JSON$/s.exec(message) ?? []
  if (shown === undefined) return text.length
  const token = /^Unexpected token '(.+?)'/su.exec(message)?.[1] ?? ''
  return text.indexOf(shown) + (cut === undefined ? Math.max(0, shown.indexOf(token)) : 10)
}

async function defaultExport(name: string): Promise<unknown> {
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(resolve(name)).href)
    if (module.default === undefined) throw mistake(name, 'has no default export: export default defineModel({ … })')
    return module.default
  } catch (error) {
    const isTypeScript = error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    if (isTypeScript) throw mistake(name, `Node ${process.versions.node} runs no TypeScript: take Node 22.18 or later`)
    if (error instanceof SyntaxError) {
      // A folder that npm set up by itself is a package of CommonJS, in which .ts and .js files are no modules.
      const hint = /import statement|token 'export'/.test(error.message)
        ? '; without "type": "module" in package.json, end its name in .mts or .mjs'
        : ''
      throw mistake(name, `cannot be loaded: ${error.message}${hint}`)
    }
    throw error
  }
}

/** Makes a source without lines, for a value that a program made. */
function plainSource(name: string, value: unknown): Source {
  return { name, value, place: () => ({ file: name, line: undefined, column: undefined }) }
}

function mistake(file: string, message: string): ModelError {
  return new ModelError([{ place: { file, line: undefined, column: undefined }, subject: '', message }])
}

/**
 * A network as the text of a model file that describes it: references by name, nothing that is as by default, and nothing
 * that the controller makes itself. Entities of a kind are in the order of their names.
 *
 * @example
 * await writeFile('network.yaml', await modelText(await readNetwork(admin)))
 */
export async function modelText(network: Network, format: 'yaml' | 'json' = 'yaml'): Promise<string> {
  const model = modelObject(network)
  if (format === 'json') return visible(`${JSON.stringify(model, null, 2)}\n`)
  const yaml = await yamlPackage()
  if (yaml === undefined) throw new Error('writing YAML needs the package yaml: npm install yaml')
  const document = new yaml.Document(model)
  yaml.visit(document, {
    // Written out between quotation marks they still mean themselves, wherever the file is shown.
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && hidesText(scalar.value.replace(/[\n\t]/g, '')))
        scalar.type = 'QUOTE_DOUBLE'
    },
    // Lists of short texts are easier to read on one line.
    Seq: (_, list) => {
      if (list.items.every((item) => yaml.isScalar(item))) list.flow = true
    },
  })
  return visible(document.toString({ lineWidth: 120, flowCollectionPadding: false }))
}

/**
 * A network as a model: the same as an object.
 *
 * @example
 * await writeFile('network.json', JSON.stringify(modelObject(await readNetwork(admin))))
 */
export function modelObject(network: Network): Readonly<Record<string, readonly object[]>> {
  const members = MODEL_KINDS.map(({ key }) => {
    const held = network.all(key).filter(({ isKept }) => !isKept)
    const sorted = held.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    return [key, sorted.map(({ body }) => body)] as const
  })
  return Object.fromEntries(members.filter(([, entities]) => entities.length > 0))
}
