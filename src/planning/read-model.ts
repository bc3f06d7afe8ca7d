import { type Model, ModelError, type ModelInput, readSources, type Source } from '../model/index.ts'
import { moduleSource } from './module-source.ts'
import { yamlPackage, yamlSource } from './yaml-source.ts'

/**
 * Reads model files, texts or objects as one model: each may refer to entities of the others. The model of a module (`.ts`, `.mts`, `.js`,
 * `.mjs`) is its default export, by `load`. Rejects with {@link ModelError}, which lists every mistake, and why a file cannot be read.
 */
export async function readModelBy(
  load: (file: string) => Promise<unknown>,
  inputs: readonly ModelInput[],
): Promise<Model> {
  const sources: Source[] = []
  for (const input of inputs) sources.push(await sourceOf(input, load))
  return readSources(sources)
}

async function sourceOf(input: ModelInput, load: (file: string) => Promise<unknown>): Promise<Source> {
  if (typeof input !== 'string') return isText(input) ? yamlText(input.name, input.text) : plainSource('model', input)
  if (isYaml(input)) return yamlText('model', input)
  const extension = /\.[^./\\]+$/.exec(input)?.[0].toLowerCase() ?? ''
  const file = await import('./model-file.ts')
  if (extension === '.yaml' || extension === '.yml') return yamlText(input, await file.textIn(input))
  if (extension === '.json') return jsonText(input, await file.textIn(input))
  if (/^\.[cm]?[jt]s$/.test(extension)) return moduleSource(input, await file.textIn(input), await load(input))
  throw ModelError.ofFile(input, 'is no model file: its name must end in .yaml, .yml, .json, .ts, .mts, .js or .mjs')
}

/** Distinguishes a model from the name of a file: a name has one line, and no key before a colon and a blank. */
function isYaml(input: string): boolean {
  return input.trim().includes('\n') || /^\s*(?:[{]|[\w-]+:(?:\s|$))/.test(input)
}

function isText(input: object): input is { readonly name: string; readonly text: string } {
  return 'text' in input && typeof input.text === 'string'
}

async function yamlText(name: string, text: string): Promise<Source> {
  const yaml = await yamlPackage()
  if (yaml === undefined) throw ModelError.ofFile(name, 'cannot be read without the package yaml: npm install yaml')
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

/** Makes a source without lines, for a value that a program made. */
function plainSource(name: string, value: unknown): Source {
  return { name, value, place: () => ({ file: name, line: undefined, column: undefined }) }
}
