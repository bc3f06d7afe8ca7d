import { duplexPair } from 'node:stream'
import type { Controller } from 'portcullis'
import type { Identity } from 'portcullis/sdk'
import { channelPair } from '../../adapters/network/channel/channel-pair.ts'
import { createRouterRequests } from '../../adapters/network/enrollment/created-requests.ts'
import { type RouterIdentity, runRouter, type StandaloneRouter } from '../../adapters/network/router/index.ts'
import { inProcessIdentity } from '../../adapters/network/sdk/in-process-identity.ts'
import { chainOf, linkedOver } from './own-links.ts'
import type { SimulatedProcess, Surroundings } from './simulated-process.ts'
import { key } from './wires.ts'
import type { World } from './world.ts'

const NAME = 'far'
/** The name of the device that dials here, as an end of wires. */
const DEVICE = 'tablet'
const CONTROL_PORT = ':6262'
const RIGHTS = ['Dial', 'Bind'] as const
/** Milliseconds within which it hears of a change. */
const HEARD_WITHIN_MS = 2500
/** The effect that a run counts. */
export const CAME_AGAIN = 'own router connected again'

type OpensStream = NonNullable<Parameters<typeof runRouter>[0]['openStream']>

/** Enrolls the router of a program of its own. */
export async function enrollRunningRouter(
  { fetch }: Pick<Controller, 'fetch'>,
  token: string,
): Promise<RouterIdentity> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', 'zt-session': token }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await fetch(new Request(`https://controller.test${path}`, init))
    return Object(JSON.parse(await response.text())).data
  }
  const fields = { name: NAME, roleAttributes: ['all'], isTunnelerEnabled: false }
  const id = String(Object(await call('POST', '/edge/management/v1/edge-routers', fields)).id)
  const { enrollmentToken } = Object(await call('GET', `/edge/management/v1/edge-routers/${id}`))
  const { keyPem, clientCsrPem, serverCsrPem } = await createRouterRequests(id, [`${NAME}.test`])
  const path = `/edge/client/v1/enroll?method=erott&token=${enrollmentToken}`
  const answer = Object(await call('POST', path, { certCsr: clientCsrPem, serverCertCsr: serverCsrPem }))
  const certificates = { clientCert: String(answer.cert), serverCert: String(answer.serverCert), ca: String(answer.ca) }
  return { id, kind: 'edge', key: keyPem, ...certificates, controllers: [] }
}

/**
 * An edge router of a program of its own, all of it the code of the product: it dials the control channels of all processes, follows the
 * model and the API sessions, and dials again what it lost. Its sockets are wires of the run.
 */
export class RunningRouter {
  readonly name = NAME
  readonly id: string
  readonly #identity: RouterIdentity
  readonly #surroundings: Surroundings
  readonly #did: (effect: string) => void
  #router: StandaloneRouter | undefined
  #device: Identity | undefined
  #connectedAt = 0
  /** The processes that it was connected to. */
  readonly #known = new Set<string>()

  constructor(identity: RouterIdentity, surroundings: Surroundings, did: (effect: string) => void) {
    this.id = identity.id
    this.#identity = identity
    this.#surroundings = surroundings
    this.#did = did
  }

  /** The part with the ends of circuits. */
  get edge(): StandaloneRouter['edge'] {
    return this.#router?.edge
  }

  /** The ids of the controllers that it is connected to. */
  get controllers(): readonly string[] {
    return this.#router?.controllers ?? []
  }

  /** Since when it is connected to as many controllers, by the time of the run. */
  connectedSince(count: number): number | undefined {
    return this.controllers.length === count ? this.#connectedAt : undefined
  }

  /** Starts it with the addresses of controllers. */
  async start(controllers: readonly string[]): Promise<void> {
    const { trace, time } = this.#surroundings
    const toRouters = linkedOver(this.#surroundings, this, { isAlive: true }).openStream
    this.#router = await runRouter({
      identity: { ...this.#identity, controllers },
      // Endpoints reach it; it dials links, and takes none.
      ...{ advertise: `${NAME}.test:3022`, linkGroups: [] },
      openStream: (dial) =>
        dial.address.endsWith(CONTROL_PORT) || toRouters === undefined ? this.#toController(dial) : toRouters(dial),
      log: (event, fields) => {
        trace(`${NAME} ${event} ${String(fields.address ?? fields.controllerId ?? fields.error ?? '')}`)
        if (event !== 'controller.connected') return
        this.#connectedAt = time.now
        const address = String(fields.address)
        if (this.#known.has(address)) this.#did(CAME_AGAIN)
        this.#known.add(address)
      },
    })
  }

  /** The identity of a device at this router. It asks the process that answers at the time. */
  identity(id: string, processes: () => readonly SimulatedProcess[]): Identity {
    const { time, wires } = this.#surroundings
    const controller = () => {
      const running = processes()[0]?.running
      if (running === undefined) throw new Error('no process runs')
      return running.controller
    }
    this.#device ??= inProcessIdentity({
      origin: 'https://controller.test:1280',
      router: {
        name: NAME,
        greet: (channel, stranger) => {
          const [near, theirs] = channelPair()
          wires.channels([DEVICE, NAME], channel, near)
          this.edge?.greet(theirs, stranger)
        },
      },
      timer: (ms, work) => time.after(ms, work),
      now: () => time.now,
      startSession: async () => (await controller().engine.host.startSession(id)).token,
      fetch: async (request) => controller().fetch(request),
    })
    return this.#device
  }

  async close(): Promise<void> {
    await this.#device?.close()
    await this.#router?.close()
  }

  readonly #toController: OpensStream = async ({ address, credentials }) => {
    const { wires, processAt } = this.#surroundings
    const process = processAt(address)
    if (process?.running === undefined || wires.refused.has(key(NAME, process.name)))
      throw new Error(`${address} is not reached`)
    // As sockets: the end of the other side closes.
    const [stream, near] = duplexPair({ allowHalfOpen: false })
    const [far, theirs] = duplexPair({ allowHalfOpen: false })
    wires.streams([NAME, process.name], near, far)
    process.running.listener.accept(theirs, chainOf(credentials.clientCert), '127.0.0.1')
    return stream
  }
}

/** The first thing that is wrong, at rest, with the router: it lacks a controller, or its model or sessions are not as the facts or the lists say. */
export async function runningWrongly(world: World, process: SimulatedProcess): Promise<string | undefined> {
  const { running, runningProcesses, facts, time, serviceId } = world
  if (running === undefined) return undefined
  const { controllers, edge } = running
  if (controllers.length !== runningProcesses.length)
    return `own router: it is connected to ${controllers.length} of ${runningProcesses.length} controllers`
  if (edge === undefined) return 'own router: it has no ends'
  for (const identity of facts.roles.keys()) {
    for (const right of RIGHTS) {
      const granted = facts.grants(identity, right, time.now)
      const isEnabled = edge.model.get('identity', identity)?.disabled === false
      const allowed = isEnabled && edge.model.grantsOf(identity, serviceId, right).length > 0
      if (granted !== 'unknown' && allowed !== (granted === 'yes'))
        return `model: the own router has ${allowed} of ${identity} (${right}), the facts say ${granted}`
    }
  }
  const listed = Object.values(Object(await process.call('GET', '/api-sessions?limit=500')))
  const sessions = new Set(listed.map((one) => String(Object(one).id)))
  await new Promise<void>((resolve) => time.after(HEARD_WITHIN_MS, resolve))
  const known = new Set([...edge.model.sessions()].map(({ id }) => id))
  const kept = [...known].find((id) => !sessions.has(id))
  if (kept !== undefined) return `sessions: the own router keeps ${kept}, which is over`
  const missing = [...sessions].find((id) => !known.has(id))
  return missing === undefined ? undefined : `sessions: the own router was not told of ${missing}`
}
