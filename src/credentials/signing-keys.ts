import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { signingKeys } from '../facts/credentials/signing-key.resource.ts'
import type { TokenJudgement } from '../ports/credentials.ts'
import { newRecord } from '../records/read-records.ts'

/** How many certificates are kept; with the life of one at a year, tokens of earlier ones have expired. */
export const MAX_KEPT = 20

/**
 * Publishes the certificate of this process's signing key to every process over the same store and to its own next start, so that a token
 * stays valid when the key is replaced or the controller restarts. The keys that other processes published are recognised here.
 */
export async function publishSigningKey(context: EngineContext): Promise<void> {
  const { clock, pki, storage, writes } = context
  const { fingerprint: id, pem: certPem, notAfter: expiresAt } = await pki.serverCertificate()
  const { items: known } = await storage.read((tx) =>
    tx.collection(signingKeys).find({ orderBy: [{ field: 'createdAt', kind: 'instant', direction: 'desc' }] }),
  )
  for (const key of known.slice(0, MAX_KEPT)) await recognise(context, key.certPem)
  if (known.some((key) => key.id === id)) return
  const now = clock.now()
  await writes.run(SYSTEM_CALL, async (tx) => {
    if ((await tx.collection(signingKeys).get(id)) !== undefined) return
    const given = { chainPem: null, keyReference: null, replaces: null }
    await tx.collection(signingKeys).insert(newRecord(id, now, { certPem, expiresAt, ...given }))
    for (const old of known.slice(MAX_KEPT - 1)) await tx.collection(signingKeys).delete(old.id)
  })
}

/** The keys that verify tokens, including keys that other processes published since this one started. */
export async function publishedKeys(context: EngineContext): Promise<readonly object[]> {
  const known = await context.tokens.publicKeys()
  const { items } = await context.storage.read((tx) => tx.collection(signingKeys).find({ limit: MAX_KEPT }))
  const further = items.filter(({ id }) => !known.some(({ kid }) => kid === id))
  for (const { certPem } of further) await recognise(context, certPem)
  return further.length === 0 ? known : context.tokens.publicKeys()
}

/** Judges a token at `now` (epoch ms), also when another process signed it with a key published since. */
export async function judgeToken(context: EngineContext, token: string, now: number): Promise<TokenJudgement> {
  const judgement = await context.tokens.judge(token, now)
  if (judgement.outcome !== 'unknown-key') return judgement
  const key = await context.storage.read((tx) => tx.collection(signingKeys).get(judgement.kid))
  if (key === undefined || !(await recognise(context, key.certPem))) return { outcome: 'invalid' }
  return context.tokens.judge(token, now)
}

/** A certificate that cannot be read stands for no key; the other keys still count. */
async function recognise({ logger, tokens }: EngineContext, certPem: string): Promise<boolean> {
  try {
    await tokens.recognise(certPem)
    return true
  } catch (error) {
    logger.warn('a signing key in the store cannot be read', { error: String(error) })
    return false
  }
}
