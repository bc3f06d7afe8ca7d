import { SealedOtherwise } from '../ports/credentials.ts'
import { logFailure } from './background-failure.ts'
import type { EngineContext } from './context.ts'

/**
 * The text of a stored secret, for which another one can be made. Undefined where another key sealed it, as after a restart without a
 * `secretsKey`; any other failure is logged with `facts`, and the secret counts as lost.
 */
export async function storedSecret(
  { sealer, logger }: Pick<EngineContext, 'sealer' | 'logger'>,
  { sealed, purpose }: { readonly sealed: string; readonly purpose: string },
  facts: { readonly kind: string; readonly id: string },
): Promise<string | undefined> {
  try {
    return await sealer.open(sealed, purpose)
  } catch (error) {
    if (!(error instanceof SealedOtherwise)) logFailure(logger, 'a stored secret cannot be read', error, facts)
    return undefined
  }
}
