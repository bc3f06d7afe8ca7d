import { createSecureContext, type SecureContext } from 'node:tls'
import type { Authorization, Client, Order } from 'acme-client'
import { unlessAborted } from '../../../../src/concurrency/unless-aborted.ts'
import type { AcmeFolder, KeptOrder, KeptPair } from './acme-folder.ts'
import { type AcmeLibrary, OrderRefused, refusedOr } from './acme-server.ts'

/** The parts of one order. */
export interface OrderParts {
  readonly library: AcmeLibrary
  readonly client: Client
  readonly folder: AcmeFolder
  readonly host: string
  /** Ends the order. */
  readonly signal: AbortSignal
  /** Shows the certificate of a challenge to the server, or none. */
  show(challenge: SecureContext | undefined): void
  /** Resolves after some ms. */
  pause(ms: number): Promise<void>
  /** Keeps the order before the server is asked for a certificate by it. */
  keep(order: KeptOrder): Promise<void>
}

const FIRST_POLL_MS = 1000
const LONGEST_POLL_MS = 15_000

/**
 * Gets the certificate of a host, by the order that was begun or another one, and keeps it. The process may end at each step: the key and the
 * address of the order are on the disk before the server issues the certificate, so that it is fetched later and not issued twice. Rejects
 * with an {@link OrderRefused} if the server refuses this host.
 */
export async function obtainPair(parts: OrderParts, kept: KeptOrder): Promise<KeptPair> {
  const { client, folder, host, library } = parts
  const ask = <T>(work: () => Promise<T>) => unlessAborted(parts.signal, () => refusedOr(work()))
  const begun = kept.begun === undefined ? undefined : await resumed(kept.begun.url, ask, client)
  const order = begun ?? (await ask(() => client.createOrder({ identifiers: [{ type: 'dns', value: host }] })))
  const key = begun && kept.begun ? kept.begun.key : String(await library.crypto.createPrivateEcdsaKey())
  if (begun === undefined) await parts.keep({ ...kept, begun: { url: order.url, key } })

  const authorized = order.status === 'pending' ? await authorize(parts, order, ask) : order
  const [, request] = await refusedOr(library.crypto.createCsr({ altNames: [host] }, key))
  const finalized =
    authorized.status === 'ready' ? await ask(() => client.finalizeOrder(authorized, request)) : authorized
  const issued = await until(
    parts,
    finalized,
    ({ status }) => status !== 'processing',
    () => ask(() => client.getOrder(order)),
  )
  if (issued.status !== 'valid') throw new OrderRefused(`the order is ${issued.status}${detailOf(issued.error)}`)
  const chain = await ask(() => client.getCertificate(issued))
  return folder.keepPair(host, `${key.trim()}\n${chain.trim()}\n`)
}

type Ask = <T>(work: () => Promise<T>) => Promise<T>

/** The order of an earlier attempt; undefined if the server does not know it, or has refused it. */
async function resumed(url: string, ask: Ask, client: Client): Promise<Order | undefined> {
  try {
    const order = await ask(() =>
      client.getOrder({ url, status: 'pending', identifiers: [], authorizations: [], finalize: '' }),
    )
    return order.status === 'invalid' ? undefined : order
  } catch (error) {
    if (error instanceof OrderRefused) return undefined
    throw error
  }
}

/** Proves by TLS-ALPN-01 that the host is served here. */
async function authorize(parts: OrderParts, order: Order, ask: Ask): Promise<Order> {
  const { client, library, show } = parts
  const authorizations = () => ask(() => client.getAuthorizations(order))
  const key = await library.crypto.createPrivateEcdsaKey()
  try {
    for (const authorization of await authorizations()) {
      if (authorization.status !== 'pending') continue
      const challenge = authorization.challenges.find(({ type }) => String(type) === 'tls-alpn-01')
      if (challenge === undefined) throw new OrderRefused('the server offers no challenge by TLS-ALPN-01')
      const proof = await ask(() => client.getChallengeKeyAuthorization(challenge))
      const [, cert] = await library.crypto.createAlpnCertificate(authorization, proof, key)
      show(createSecureContext({ key, cert }))
      if (challenge.status === 'pending') await ask(() => client.completeChallenge(challenge))
    }
    const proved = await until(parts, await authorizations(), (all) => !all.some(isPending), authorizations)
    const refused = proved.find(({ status }) => status !== 'valid')
    if (refused !== undefined) throw new OrderRefused(`the challenge is ${refused.status}${detailOf(errorOf(refused))}`)
  } finally {
    show(undefined)
  }
  const now = () => ask(() => client.getOrder(order))
  return until(parts, await now(), ({ status }) => status !== 'pending', now)
}

function isPending({ status }: Authorization): boolean {
  return status === 'pending'
}

function errorOf({ challenges }: Authorization): unknown {
  return challenges.map((challenge) => ('error' in challenge ? challenge.error : undefined)).find(Boolean)
}

function detailOf(problem: unknown): string {
  const detail: unknown = Reflect.get(Object(problem), 'detail')
  return typeof detail === 'string' ? `: ${detail.slice(0, 500)}` : ''
}

/** Asks again, at growing distances, until the answer is settled, or the time of the order is over: the order goes on later then. */
async function until<T>(
  { pause, signal }: Pick<OrderParts, 'pause' | 'signal'>,
  first: T,
  isSettled: (answer: T) => boolean,
  again: () => Promise<T>,
): Promise<T> {
  let answer = first
  for (let ms = FIRST_POLL_MS; !isSettled(answer); ms = Math.min(ms * 2, LONGEST_POLL_MS)) {
    await unlessAborted(signal, () => pause(ms)).catch(() => {
      throw new Error('the server has not settled the order yet')
    })
    answer = await again()
  }
  return answer
}
