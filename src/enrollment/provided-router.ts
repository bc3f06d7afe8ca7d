import { DAY_MS } from '../base/time.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { storedSecret } from '../context/stored-secrets.ts'
import { enrollments } from '../facts/enrollment/enrollment.resource.ts'
import type { OwnRouter, OwnRouterRequest } from '../facts/fabric/messages/index.ts'
import { type EdgeRouters, edgeRouters } from '../facts/routers/edge-router.resource.ts'
import { routerKeys } from '../facts/routers/router-key.resource.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import { equals } from '../kernel/filter/index.ts'
import { findOne, newRecord } from '../records/read-records.ts'
import { certify, issueRouterChains } from './router-enrollment.ts'

type EdgeRouter = RecordOf<EdgeRouters>
type RouterKey = RecordOf<typeof routerKeys>

/** The purpose for which a key is sealed. */
const ROUTER_KEY = 'router-key'
/** Certificates are valid for a year: a month before the end leaves time for processes that are down. */
const RENEW_BEFORE_MS = 30 * DAY_MS

/** A router that runs here, as the store has it. */
interface Known {
  readonly router: EdgeRouter
  readonly key: RouterKey
}

/**
 * The edge router of a name that runs in this process. Its record, key and certificates are made where they are missing. Key and
 * certificates are renewed a month before they expire, and when another authority signs. `willChange` gets the fingerprint of the next
 * certificate before it is stored, so that a connected router stays connected. Rejects where a router of the name was enrolled elsewhere.
 */
export async function provideOwnRouter(
  context: EngineContext,
  createRouter: (body: { readonly name: string; readonly roleAttributes: readonly string[] }) => Promise<unknown>,
  request: OwnRouterRequest,
  willChange: (routerId: string, fingerprint: string) => void,
): Promise<OwnRouter> {
  const { name, roleAttributes } = request
  const find = () => context.storage.read((tx) => findOne(tx, edgeRouters, 'name', name))
  let router = await find()
  if (router === undefined) {
    await createRouter({ name, roleAttributes })
    router = await find()
  }
  if (router === undefined) throw new Error(`the edge router ${name} was deleted while it was made`)
  const known = await usable(context, router)
  return known ?? newlyCertified(context, router, request, willChange)
}

/** The router with its current key; undefined where it needs a first or a next one. */
async function usable(context: EngineContext, router: EdgeRouter): Promise<OwnRouter | undefined> {
  const key = await context.storage.read((tx) => tx.collection(routerKeys).get(router.id))
  if (key === undefined) {
    if (router.isVerified) {
      throw new Error(`the edge router ${router.name} runs elsewhere: give the one of this process another name`)
    }
    return undefined
  }
  const { keys, pki } = context
  const isOfIssuer = (router.authorityKeyId ?? keys.configured.keyId) === (pki.issuerKeyId ?? keys.configured.keyId)
  const isCurrent = router.isVerified && router.fingerprint === key.fingerprint && isOfIssuer
  if (!isCurrent || context.clock.now() >= key.expiresAt - RENEW_BEFORE_MS) return undefined
  const secret = { sealed: key.sealedKey, purpose: ROUTER_KEY }
  const keyPem = await storedSecret(context, secret, { kind: routerKeys.name, id: router.id })
  return keyPem === undefined ? undefined : ownRouter(context, { router, key }, keyPem)
}

async function newlyCertified(
  context: EngineContext,
  router: EdgeRouter,
  request: OwnRouterRequest,
  willChange: (routerId: string, fingerprint: string) => void,
) {
  const now = context.clock.now()
  const { keyPem, clientCsrPem, serverCsrPem } = await request.newKey(router.id)
  const requests = { clientCsr: clientCsrPem, serverCsr: serverCsrPem }
  const issued = await issueRouterChains(context, router.id, 'erott', requests, now)
  const certificates = await context.pki.readCertificates(issued.cert)
  const expiresAt = typeof certificates === 'string' ? now : (certificates[0]?.notAfter ?? now)
  const { fingerprint, cert: certPem, serverCert: serverCertPem } = issued
  const sealedKey = await context.sealer.seal(keyPem, ROUTER_KEY)
  const key = newRecord(router.id, now, { fingerprint, sealedKey, certPem, serverCertPem, expiresAt })
  await context.writes.run(SYSTEM_CALL, async (tx) => {
    const current = await tx.collection(edgeRouters).get(router.id)
    if (current === undefined) throw new Error(`the edge router ${router.name} was deleted while it was made`)
    // No other process can enroll as this router.
    const { items } = await tx.collection(enrollments).find({ where: equals('edgeRouterId', router.id) })
    for (const outstanding of items) await tx.collection(enrollments).delete(outstanding.id)
    if ((await tx.collection(routerKeys).get(router.id)) !== undefined)
      await tx.collection(routerKeys).delete(router.id)
    await tx.collection(routerKeys).insert(key)
    willChange(router.id, fingerprint)
    await certify(tx, edgeRouters, current, issued, now)
  })
  return ownRouter(context, { router, key }, keyPem)
}

function ownRouter(context: EngineContext, { router, key }: Known, keyPem: string): OwnRouter {
  const { fingerprint, certPem, serverCertPem, expiresAt } = key
  const { caBundlePem: caPem } = context.pki
  const renewAt = expiresAt - RENEW_BEFORE_MS
  return { id: router.id, name: router.name, fingerprint, keyPem, certPem, serverCertPem, caPem, renewAt }
}
