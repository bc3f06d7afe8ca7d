import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeDurably } from '../../../../network/enrollment/index.ts'
import { type Model, ModelError, problemText, readModel } from '../../../model/index.ts'
import { UsageError } from '../../command-line/usage.ts'
import type { Style, Terminal } from '../../output.ts'

/** Reads the model files that a command was given. Throws {@link UsageError} with every mistake in them. */
export async function readModelFiles(files: readonly string[], command: string): Promise<Model> {
  if (files.length === 0) throw new UsageError(`${command} needs a model file, such as network.yaml`)
  return withoutMistakes(() => readModel(...files))
}

/** Turns mistakes in a model file, or a file that is not there, into errors for the caller to put right. */
export async function withoutMistakes<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isFileError = error instanceof Error && 'code' in error && 'path' in error
    if (error instanceof ModelError) {
      throw new UsageError(error.message, { cause: error, places: error.problems.map(problemText) })
    }
    if (isFileError)
      throw new UsageError(`${error.path}: ${error.message.replace(/, \w+ '.*'$/, '')}`, { cause: error })
    throw error
  }
}

/** Refuses a file in a missing folder, and an existing file unless `force` is given, before any long request. */
export function requireFree(file: string | undefined, force: boolean): void {
  if (file === undefined) return
  const folder = dirname(file)
  if (!existsSync(folder)) throw new UsageError(`'${file}' cannot be written: there is no folder ${folder}`)
  if (force || !existsSync(file)) return
  throw new UsageError(`${file} is there already: --force replaces it`)
}

/** Writes a text to a file, which ends the answer; without a file the text is the answer. */
export async function written(text: string, file: string | undefined, terminal: Terminal): Promise<string> {
  if (file === undefined) return text.replace(/\n$/, '')
  await withoutMistakes(() => writeDurably(file, text, { isPublic: true }))
  terminal.tell(`wrote ${file}`)
  return ''
}

/** Results and plans with their words for good, bad and changed in colour, where the terminal shows it. */
export function coloured(text: string, style: Style): string {
  return text
    .replace(/^(?:ok {4}|(?: {2})?\+ )/gm, (start) => style('green', start))
    .replace(/^(?:FAIL|(?: {2})?- )/gm, (start) => style('red', start))
    .replace(/^(?:~ |note:)/gm, (start) => style('yellow', start))
}
