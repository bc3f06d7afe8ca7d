// Endpoints of one identity in a process of their own. The first message says where they connect; each further one has all of them dial by a
// service session, or leave.
import { Endpoint, type EndpointIdentity } from './endpoint.ts'

/** The endpoints that a process has to connect. */
export interface Crowd {
  readonly address: string
  readonly endpoint: EndpointIdentity
  readonly count: number
}

/** The outcome of dials that all endpoints of a crowd sent at once. */
export interface CrowdDials {
  readonly tookMs: number
  readonly through: number
  /** The refusals, and how often each came. */
  readonly refused: Readonly<Record<string, number>>
}

/** Endpoints that connect at once: more would wait for the accept queue of the system. */
const CONNECTING = 32
const crowd: Endpoint[] = []

process.once('message', async ({ address, endpoint, count }: Crowd) => {
  let left = count
  const connect = async () => {
    while (left > 0) {
      left -= 1
      crowd.push(await Endpoint.open(`tls://${address}`, endpoint))
    }
  }
  await Promise.all(Array.from({ length: CONNECTING }, connect))
  process.on('message', async (order: { readonly dial: string } | 'leave') => {
    if (order === 'leave') for (const endpoint of crowd) endpoint.close()
    else process.send?.(await dials(order.dial))
  })
  process.send?.('connected')
})

async function dials(token: string): Promise<CrowdDials> {
  const begun = performance.now()
  const refused: Record<string, number> = {}
  let through = 0
  const dial = async (endpoint: Endpoint) => {
    try {
      await endpoint.dial(token)
      through += 1
    } catch (error) {
      refused[String(error)] = (refused[String(error)] ?? 0) + 1
    }
  }
  await Promise.all(crowd.map(dial))
  return { tookMs: performance.now() - begun, through, refused }
}
