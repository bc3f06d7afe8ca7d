import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Address } from '../../network/channel/index.ts'
import { EDGE_FIRST_BYTES, EdgePort, ROUTER_PROTOCOLS } from './edge-port.ts'
import {
  CONTROL_PROTOCOL,
  type ControlChannel,
  controlChannel,
  type FabricSource,
  NO_CONTROL_CHANNEL,
  PROCESS_PROTOCOL,
} from './fabric-port.ts'
import type { LocalRouter } from './local-router.ts'
import type { ServableController, ServeOptions } from './server-options.ts'
import { sharePort } from './shared-port.ts'
import type { ServerCertificate } from './tls-sockets.ts'

/** The ports of routers and SDKs: the control channel, and the router of this process. Both may share the port of the APIs. */
export class RouterPorts {
  readonly #controller: ServableController
  readonly #control: ControlChannel
  readonly #edge: EdgePort | undefined
  /** The protocols, by their ALPN names, that come by the port of the APIs. */
  readonly protocols: readonly string[]

  constructor(controller: ServableController, options: ServeOptions) {
    this.#controller = controller
    this.#control = controlChannel(controller.tls(), options.fabric ?? false)
    this.#edge = edgePort(controller.tls(), options)
    this.protocols = [...this.#control.protocols, ...(this.#edge?.isShared ? ROUTER_PROTOCOLS : [])]
  }

  get controlAddress(): string | undefined {
    return this.#control.address
  }

  get router(): LocalRouter | undefined {
    return this.#edge?.router
  }

  /** Takes the sockets of routers and SDKs from the server of the APIs, for the ports that are shared. */
  shareWith(server: Server, onTaken: (socket: Socket) => void, firstBytesMs: number): void {
    if (this.protocols.length === 0) return
    const [control, edge] = [this.#control, this.#edge]
    const byProtocol = new Map<string, (socket: TLSSocket) => void>()
    for (const name of [CONTROL_PROTOCOL, PROCESS_PROTOCOL]) byProtocol.set(name, (socket) => control.accept(socket))
    for (const name of ROUTER_PROTOCOLS) byProtocol.set(name, (socket) => edge?.accept(socket))
    const byFirstBytes = edge?.isShared && {
      ...{ bytes: EDGE_FIRST_BYTES, take: (socket: TLSSocket) => edge.accept(socket) },
    }
    sharePort(server, { byProtocol, ...(byFirstBytes && { byFirstBytes }), onTaken, firstBytesMs })
  }

  /** Binds the ports that are not shared. */
  async bind(): Promise<void> {
    await this.#control.bind()
    await this.#edge?.bind()
  }

  /** Serves the routers of the controller itself, where it has a fabric. */
  async openAtStart(apis: Address): Promise<void> {
    const { openFabric } = this.#controller
    if (openFabric !== undefined && this.#control !== NO_CONTROL_CHANNEL) await this.open({ openFabric }, apis)
  }

  async open(source: FabricSource, apis: Address): Promise<void> {
    this.#control.advertise(apis)
    const plane = await this.#control.open(source)
    if (plane !== undefined) await this.#edge?.open(plane, this.#controller.fetch, apis)
  }

  /** Takes endpoints of a router that runs already. */
  async join(apis: Address): Promise<void> {
    await this.#edge?.join(apis)
  }

  replaceCertificate(certificate: ServerCertificate): void {
    this.#control.replaceCertificate(certificate)
    this.#edge?.replaceCertificate(certificate)
  }

  async close(): Promise<void> {
    await this.#edge?.close()
    await this.#control.close()
  }
}

/** Where SDKs connect, as the options ask for it. Throws for a router without the control channel that it belongs to. */
function edgePort(
  certificate: ServerCertificate,
  { router = false, fabric = false }: ServeOptions,
): EdgePort | undefined {
  if (router === false) return undefined
  const isRunning = router !== true && router.running !== undefined
  if (fabric === false && !isRunning)
    throw new TypeError('serve: router needs fabric, by which controllers lay circuits')
  return new EdgePort(certificate, router === true ? {} : router)
}
