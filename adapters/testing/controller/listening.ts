import { checkOptions, type OptionRules } from '../../../src/domain/arguments/check-options.ts'
import type { Controller, ControllerFetch } from '../../../src/index.ts'
import { ConnectionDropped } from '../faults/faults.ts'

/** Where a test controller is served. */
export interface ListenOptions {
  /** The address to bind. Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: 0, the system chooses. */
  readonly port?: number
  /** Serves routers as well, on the same port. Default: false. */
  readonly fabric?: boolean
}

const OPTIONS: OptionRules<ListenOptions> = { host: 'string', port: 'number', fabric: 'boolean' }

/** A test controller on a socket, for clients in any language. */
export interface ListeningController {
  /** `https://host:port` */
  readonly url: string
  readonly port: number
  /** `host:port`, which stands in tokens from now on. */
  readonly address: string
  /** The trust bundle by which clients know it, PEM. */
  readonly ca: string
  /** Stops it; the controller goes on. */
  close(): Promise<void>
}

type Served = Pick<Controller, 'answerHeaders' | 'caPem' | 'changeAddress' | 'openFabric' | 'tls'> & {
  readonly fetch: ControllerFetch
}

/** Serves a controller over HTTPS, as `serve` of `portcullis/node` does. */
export async function listenWith(controller: Served, options: ListenOptions): Promise<ListeningController> {
  checkOptions('listen', options, OPTIONS)
  // Loaded here because most tests need no socket.
  const { RequestAborted, serve } = await import('../../node/index.ts')
  const fetch: ControllerFetch = async (request, connection) => {
    try {
      return await controller.fetch(request, connection)
    } catch (error) {
      throw error instanceof ConnectionDropped ? new RequestAborted() : error
    }
  }
  const { host = '127.0.0.1', port = 0, fabric = false } = options
  const { answerHeaders, openFabric } = controller
  const source = { fetch, answerHeaders, openFabric, tls: () => controller.tls() }
  const server = await serve(source, { host, port, fabric })
  const { host: address } = new URL(server.url)
  controller.changeAddress(address)
  return {
    url: server.url,
    port: server.port,
    address,
    ca: controller.caPem,
    close: () => server.close({ graceMs: 0 }),
  }
}
