import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { enroll } from '../../../sdk/index.ts'
import type { Answer, CommandCall } from '../../command-line/command.ts'
import { UsageError } from '../../command-line/usage.ts'

/** Enrolls by the token in a file, and writes the identity beside it. Throws {@link UsageError}. */
export async function enrollByFile({ operands, options }: CommandCall<'out'>): Promise<Answer> {
  const [file, ...others] = operands
  if (file === undefined || others.length > 0) throw new UsageError('tunnel enroll takes one file with a token')
  const out = options.value('out') ?? `${file.replace(/\.jwt$/, '')}.json`
  // Looked at before the token is used up.
  if (existsSync(out)) throw new UsageError(`'${out}' is there already: --out FILE names another one`)
  const identity = await identityOf(await read(file))
  try {
    // A file that is there is not lost: its key exists nowhere else.
    await writeFile(out, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new UsageError(`--out: '${out}' cannot be written`, { cause: error })
  }
  return { text: `the identity is in ${out}`, value: { file: out, controller: identity.ztAPI } }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`'${file}' cannot be read`, { cause: error })
  }
}

async function identityOf(token: string) {
  try {
    return await enroll(token)
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
