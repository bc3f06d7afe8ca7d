import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { versions } from 'node:process'
import { pathToFileURL } from 'node:url'
import { ModelError } from '../model/index.ts'

/** The text of a model file. Rejects with {@link ModelError} when it cannot be read. */
export async function textIn(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw ModelError.ofFile(file, whyUnreadable(file, error))
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

/** The model that a module exports. Rejects with {@link ModelError} when it cannot be loaded. */
export async function defaultExport(name: string): Promise<unknown> {
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
