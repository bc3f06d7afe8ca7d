import { type Controller, createController } from '../../src/index.ts'
import { formatAddress, type RunningServer, serve } from '../node/index.ts'
import { hostMismatch, openCertificates } from './certificates.ts'
import type { ServeOptions } from './serve-options.ts'
import { openStorage, withoutPassword } from './storage.ts'
import { messageOf, UsageError } from './usage-error.ts'

/** Milliseconds that requests in flight have to finish when the process is told to end. */
const DRAIN_MS = 5_000

/** A served controller. */
export interface Service {
  /** One line for the person who started it. */
  readonly readyLine: string
  /** One line each about what may surprise that person. */
  readonly warnings: readonly string[]
  /** Finishes the requests in flight and closes the storage. */
  close(): Promise<void>
}

/**
 * Starts a controller as the command line says. The address is bound first, so that a taken port is told before anything
 * else happens, and requests wait until the controller is there. Rejects with a {@link UsageError}.
 */
export async function startService(options: ServeOptions): Promise<Service> {
  const { material, source } = await openCertificates(options, Date.now())
  const pending = pendingController()
  const server = await bind(options, {
    fetch: async (request, connection) => (await pending.controller).fetch(request, connection),
    tls: () => ({ cert: material.serverCertPem, key: material.serverKeyPem }),
  })
  try {
    const listening = { ...options.listen, port: server.port }
    const advertised = options.advertise ?? listening
    const controller = await createController({
      storage: await openStorage(options.storage),
      address: formatAddress(advertised),
      pki: material,
      ...(options.trustDomain !== undefined && { trustDomain: options.trustDomain }),
      ...(options.admin && { admin: options.admin }),
    })
    pending.resolve(controller)
    return {
      readyLine: `portcullis ready on https://${formatAddress(listening)} (advertised as ${formatAddress(advertised)}, storage ${withoutPassword(options.storage)}, ${source})`,
      warnings: await warningsOf(controller, options, hostMismatch(material.serverCertPem, advertised.host)),
      close: async () => {
        await server.close({ graceMs: DRAIN_MS })
        await controller.close()
      },
    }
  } catch (error) {
    await server.close({ graceMs: 0 })
    throw new UsageError(messageOf(error), { cause: error })
  }
}

function pendingController(): { controller: Promise<Controller>; resolve(controller: Controller): void } {
  let resolve: (controller: Controller) => void = () => undefined
  const controller = new Promise<Controller>((fulfil) => {
    resolve = fulfil
  })
  return { controller, resolve: (value) => resolve(value) }
}

async function bind(options: ServeOptions, controller: Parameters<typeof serve>[0]): Promise<RunningServer> {
  try {
    return await serve(controller, options.listen)
  } catch (error) {
    throw new UsageError(`--listen: ${messageOf(error)}`, { cause: error })
  }
}

async function warningsOf(
  controller: Controller,
  options: ServeOptions,
  mismatch: string | undefined,
): Promise<readonly string[]> {
  const hasAdmin = options.admin !== undefined || controller.hasAdmin
  const noAdmin = 'there is no admin yet: PORTCULLIS_ADMIN_USERNAME and PORTCULLIS_ADMIN_PASSWORD would create one'
  return [...(mismatch === undefined ? [] : [mismatch]), ...(hasAdmin ? [] : [noAdmin])]
}
