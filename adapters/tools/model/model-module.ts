import { resolve } from 'node:path'
import { versions } from 'node:process'
import { pathToFileURL } from 'node:url'
import { type Model, ModelError, type ModelInput } from '../../../src/model/index.ts'
import { readModelBy } from '../../../src/planning/index.ts'

/**
 * Reads model files, texts or objects as one model: each may refer to entities of the others. Files end in `.yaml`, `.yml` (with the
 * package `yaml` installed), `.json`, or `.ts`, `.mts`, `.js`, `.mjs` with the model as default export. Rejects with {@link ModelError},
 * which lists every mistake with file, line and column, and why a file cannot be read.
 *
 * @example
 * const model = await readModel('network.yaml', 'assertions.yaml')
 */
export function readModel(...inputs: readonly ModelInput[]): Promise<Model> {
  return readModelBy(defaultExport, inputs)
}

/** The model that a module exports. Rejects with {@link ModelError} when it cannot be loaded. */
async function defaultExport(name: string): Promise<unknown> {
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(resolve(name)).href)
    if (module.default === undefined)
      throw ModelError.ofFile(name, 'has no default export: export default defineModel({ … })')
    return module.default
  } catch (error) {
    const isTypeScript = error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    if (isTypeScript)
      throw ModelError.ofFile(name, `Node ${versions.node} runs no TypeScript: take Node 22.18 or later`)
    if (error instanceof SyntaxError) {
      // A folder that npm set up by itself is a package of CommonJS, in which .ts and .js files are no modules.
      const hint = /import statement|token 'export'/.test(error.message)
        ? '; without "type": "module" in package.json, end its name in .mts or .mjs'
        : ''
      throw ModelError.ofFile(name, `cannot be loaded: ${error.message}${hint}`)
    }
    throw error
  }
}
