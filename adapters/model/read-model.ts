import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Model, ModelError, type NetworkModel, readSources, type Source } from '../../../src/model/index.ts'
import { yamlPackage, yamlSource } from './yaml-source.ts'

/** A file by its name, a text in YAML with the name that messages give it, or a model that a program made. */
export type ModelInput = string | { readonly name: string; readonly text: string } | NetworkModel

/**
 * Reads model files, texts or objects as one model: what one of them holds, the others may refer to. Files end in `.yaml`,
 * `.yml` (with the package `yaml` installed), `.json`, or `.ts`, `.mts`, `.js`, `.mjs` with the model as default export.
 * Rejects with {@link ModelError}, which tells every mistake with file, line and column, and with the error of the system
 * for a file that cannot be read.
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
  const extension = extname(input).toLowerCase()
  if (extension === '.yaml' || extension === '.yml') return yamlText(input, await readFile(input, 'utf8'))
  if (extension === '.json') return jsonText(input, await readFile(input, 'utf8'))
  if (/^\.[cm]?[jt]s$/.test(extension)) return plainSource(input, await defaultExport(input))
  throw mistake(input, 'is no model file: its name must end in .yaml, .yml, .json, .ts, .mts, .js or .mjs')
}

function isText(input: object): input is { readonly name: string; readonly text: string } {
  return 'text' in input && typeof input.text === 'string'
}

async function yamlText(name: string, text: string): Promise<Source> {
  const yaml = await yamlPackage()
  if (yaml === undefined) throw mistake(name, 'cannot be read without the package yaml: npm install yaml')
  return yamlSource(yaml, name, text)
}

/** JSON is YAML as well, and only a reader of YAML tells lines. */
async function jsonText(name: string, text: string): Promise<Source> {
  const yaml = await yamlPackage()
  if (yaml !== undefined) return yamlSource(yaml, name, text)
  try {
    return plainSource(name, JSON.parse(text))
  } catch (error) {
    throw mistake(name, error instanceof Error ? error.message : String(error))
  }
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
      // What npm makes of an empty folder is a package of CommonJS, whose .ts and .js files are no modules.
      const hint = /import statement|token 'export'/.test(error.message)
        ? '; without "type": "module" in package.json, end its name in .mts or .mjs'
        : ''
      throw mistake(name, `cannot be loaded: ${error.message}${hint}`)
    }
    throw error
  }
}

/** What a program made has no lines. */
function plainSource(name: string, value: unknown): Source {
  return { name, value, place: () => ({ file: name, line: undefined, column: undefined }) }
}

function mistake(file: string, message: string): ModelError {
  return new ModelError([{ place: { file, line: undefined, column: undefined }, subject: '', message }])
}
