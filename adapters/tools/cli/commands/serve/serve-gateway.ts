import { createServer } from 'node:https'
import type { Controller } from '../../../../../src/index.ts'
import type { Gateway, GatewayRouter } from '../../../../web/gateway/index.ts'
import { type Address, formatAddress } from '../../../../web/node/index.ts'
import { UsageError } from '../../command-line/usage.ts'
import { readAddress } from '../../input/address.ts'
import { tell } from '../../output.ts'
import {
  type CertificateSource,
  certificateOption,
  examineCertificateSource,
  openGatewayCertificates,
  readCertificateSource,
} from './gateway-certificates.ts'
import type { ServeArguments } from './option-declarations.ts'

/** A door for browsers to dark apps: its hosts, where it listens, and where its certificate comes from. */
export interface GatewayPlace {
  readonly hosts: string
  readonly listen: Address
  readonly certificate: CertificateSource
}

/** A gateway that is being served. */
export interface ServedGateway {
  readonly notes: readonly string[]
  close(): Promise<void>
}

/** The options without which there is no gateway, and why. */
interface Surroundings {
  readonly hasRouter: boolean
  readonly hasOpenId: boolean
  readonly workers: number
}

/** Reads the options of `--gateway`. Throws {@link UsageError}. */
export function readGateway(
  options: ServeArguments,
  { hasOpenId, hasRouter, workers }: Surroundings,
): GatewayPlace | undefined {
  const [hosts, listen] = [options.setting('gateway'), options.setting('gateway-listen')]
  if (hosts === undefined) {
    const needless = listen?.name ?? certificateOption(options)
    if (needless === undefined) return undefined
    throw new UsageError(`${needless} is about the gateway of --gateway, which was not asked for`)
  }
  if (!hasRouter) throw new UsageError(`${hosts.name} needs --router, by which it dials apps`)
  if (!hasOpenId) throw new UsageError(`${hosts.name} needs logins by OpenID Connect: leave out --oidc off`)
  // A login is in the memory of one process.
  if (workers !== 1) throw new UsageError(`${hosts.name} is served by one process: leave out --workers`)
  const certificate = readCertificateSource(hosts, options)
  const address = readAddress(listen ?? { name: '--gateway-listen', value: '127.0.0.1:443' }, 0)
  return { hosts: hosts.value, listen: address, certificate }
}

/**
 * The address that a login leads back to. The provider has to know it before the gateway is there. Throws {@link UsageError}, also where a
 * package is missing: no database is made then.
 */
export async function gatewayRedirects(place: GatewayPlace | undefined): Promise<readonly string[]> {
  if (place === undefined) return []
  const [missing] = await examineCertificateSource(place.certificate)
  if (missing !== undefined) throw new UsageError(missing.text)
  const { gatewayRedirectUri } = await import('../../../../web/gateway/index.ts')
  try {
    return [gatewayRedirectUri(place.hosts)]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`--gateway: ${reason}`, { cause: error })
  }
}

/** Times of strangers, in ms: for the handshake of TLS, and between two looks at the times of headers. */
const TIMES = { handshakeTimeout: 10_000, connectionsCheckingInterval: 1000 }

/** Serves a gateway. A renewed certificate is put in use without a restart. Throws {@link UsageError}. */
export async function serveGateway(
  { hosts, listen, certificate }: GatewayPlace,
  controller: Controller,
  router: GatewayRouter,
): Promise<ServedGateway> {
  const { gateway } = await import('../../../../web/gateway/index.ts')
  const { begin, close, tls } = await openGatewayCertificates(certificate, hosts, controller)
  const onError = (error: unknown) => tell(`the gateway: ${error instanceof Error ? error.message : String(error)}`)
  const door: Gateway = gateway(controller, { hosts, router, onError })
  const server = createServer({ ...tls, ...TIMES })
  door.attach(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, () => resolve())
  }).catch(async (error: Error) => {
    await close()
    throw new UsageError(`cannot listen on --gateway-listen ${formatAddress(listen)}: ${error.message}`, {
      cause: error,
    })
  })
  // Out of file descriptors is a reason to report, not to end the process.
  server.on('error', onError)
  begin((renewed) => server.setSecureContext(renewed))
  return {
    notes: [`the gateway opens apps to browsers at ${door.home}`],
    close: async () => {
      await close()
      await door.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
