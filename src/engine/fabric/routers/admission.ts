import type { ChannelRefusal, SocketAdmission } from '../../../ports/fabric/index.ts'
import type { EngineContext } from '../../context/context.ts'
import { isValidAt } from '../../credentials/client-certificates.ts'
import { admitRouter, routerFacts } from '../../routers/router-admission.ts'

const REFUSALS = {
  unknown: 'unknown',
  disabled: 'disabled',
  unverified: 'not-enrolled',
  fingerprint: 'wrong-fingerprint',
} as const satisfies Readonly<Record<string, ChannelRefusal>>

/**
 * Judges a socket that wants to speak for a router: its first certificate must lead to the network's own authority and be
 * the one that the router enrolled with. Others of the chain prove nothing, for anybody can present them.
 */
export async function admitSocket(
  context: EngineContext,
  routerId: string,
  chain: readonly Uint8Array[],
): Promise<SocketAdmission> {
  const now = context.clock.now()
  if (chain.length === 0) return refused('no-certificate')
  const verdict = await context.pki.verifyClientChain(chain, now)
  if (!verdict.trusted || !isValidAt(verdict.leaf, now)) return refused('untrusted-certificate')
  const { fingerprint } = verdict.leaf
  const admission = admitRouter(await context.storage.read((tx) => routerFacts(tx, routerId)), fingerprint)
  return admission.accepted ? { admitted: true, fingerprint } : refused(REFUSALS[admission.reason])
}

function refused(reason: ChannelRefusal): SocketAdmission {
  return { admitted: false, reason }
}
