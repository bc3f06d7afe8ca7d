import type { Caller } from '../../engine/context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { Access } from '../operations/operation.ts'
import { authenticate, type Credentials } from './credentials.ts'

/**
 * Finds the caller of a request and counts it: by identity, or by address where the operation is open or the token is not
 * good, so that guessing tokens is limited too. Errors: `UNAUTHORIZED`, `SERVER_TOO_MANY_REQUESTS`.
 */
export async function countedCaller(
  engine: ControllerEngine,
  access: Access,
  credentials: Credentials,
  address: string | undefined,
): Promise<Caller | undefined> {
  const { requestRates } = engine
  if (access === 'public') {
    await requestRates.countAnonymous(address)
    return undefined
  }
  const caller = await authenticate(engine, credentials).catch(async (error: unknown) => {
    await requestRates.countAnonymous(address)
    throw error
  })
  await requestRates.countIdentity(caller.identity.id)
  return caller
}
