import { benchCircuits } from './fabric/circuits.ts'
import { benchConnecting, benchPolicyChange } from './fabric/data-model.ts'
import type { BenchRow } from './row.ts'

/** The data plane with routers that are played. */
export async function benchFabric(): Promise<BenchRow[]> {
  return [...(await benchCircuits()), ...(await benchConnecting(200)), ...(await benchPolicyChange(50))]
}
