import { existsSync } from 'node:fs'
import { type Identity, openIdentity } from '../../../network/sdk/index.ts'
import { UsageError } from '../command-line/usage.ts'

/** Opens the identity of `--identity FILE`. Throws {@link UsageError}. */
export async function openedIdentity(file: string): Promise<Identity> {
  if (!existsSync(file))
    throw new UsageError(
      `--identity: there is no file ${file}: portcullis tunnel enroll writes one, by the invitation of --token FILE or --token -`,
    )
  try {
    return await openIdentity(file)
  } catch (error) {
    throw new UsageError(`--identity: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
