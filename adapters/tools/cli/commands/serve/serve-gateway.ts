import { createServer } from 'node:https'
import type { Controller, PkiMaterial } from '../../../../../src/index.ts'
import type { Gateway, GatewayRouter } from '../../../../web/gateway/index.ts'
import { type Address, formatAddress, readServerFiles, tlsOptions } from '../../../../web/node/index.ts'
import { UsageError } from '../../command-line/usage.ts'
import { readAddress } from '../../input/address.ts'
import { tell } from '../../output.ts'
import { followCertificate } from './certificates.ts'
import type { ServeArguments } from './option-declarations.ts'

/** A door for browsers to dark apps: its hosts, where it listens, and the files of its certificate. */
export interface GatewayPlace {
  readonly hosts: string
  readonly listen: Address
  readonly cert: string
  readonly key: string
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
  { setting }: ServeArguments,
  { hasOpenId, hasRouter, workers }: Surroundings,
): GatewayPlace | undefined {
  const [hosts, listen] = [setting('gateway'), setting('gateway-listen')]
  const [cert, key] = [setting('gateway-cert'), setting('gateway-key')]
  if (hosts === undefined) {
    const needless = listen ?? cert ?? key
    if (needless === undefined) return undefined
    throw new UsageError(`${needless.name} is about the gateway of --gateway, which was not asked for`)
  }
  if (!hasRouter) throw new UsageError(`${hosts.name} needs --router, by which it dials apps`)
  if (!hasOpenId) throw new UsageError(`${hosts.name} needs logins by OpenID Connect: leave out --oidc off`)
  // A login is in the memory of one process.
  if (workers !== 1) throw new UsageError(`${hosts.name} is served by one process: leave out --workers`)
  if (cert === undefined || key === undefined)
    throw new UsageError(`${hosts.name} needs --gateway-cert and --gateway-key, a certificate for ${hosts.value}`)
  const address = readAddress(listen ?? { name: '--gateway-listen', value: '127.0.0.1:443' }, 0)
  return { hosts: hosts.value, listen: address, cert: cert.value, key: key.value }
}

/** The address that a login leads back to. The provider has to know it before the gateway is there. */
export async function gatewayRedirects(place: GatewayPlace | undefined): Promise<readonly string[]> {
  if (place === undefined) return []
  const { gatewayRedirectUri } = await import('../../../../web/gateway/index.ts')
  try {
    return [gatewayRedirectUri(place.hosts)]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`--gateway: ${reason}`, { cause: error })
  }
}

/** Serves a gateway. A certificate that is renewed in its files is put in use within seconds. Throws {@link UsageError}. */
export async function serveGateway(
  { hosts, listen, cert: certFile, key: keyFile }: GatewayPlace,
  controller: Controller,
  router: GatewayRouter,
): Promise<ServedGateway> {
  const { gateway } = await import('../../../../web/gateway/index.ts')
  const files = { serverCertPem: certFile, serverKeyPem: keyFile }
  const inUse = await readServerFiles(files)
  const onError = (error: unknown) => tell(`the gateway: ${error instanceof Error ? error.message : String(error)}`)
  const door: Gateway = gateway(controller, { hosts, router, onError })
  const server = createServer(tlsOf(inUse))
  door.attach(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, () => resolve())
  }).catch((error: Error) => {
    throw new UsageError(`cannot listen on --gateway-listen ${formatAddress(listen)}: ${error.message}`, {
      cause: error,
    })
  })
  const stopRenewal = followCertificate(files, inUse, {
    what: 'certificate of the gateway',
    put: (renewed) => {
      server.setSecureContext(tlsOf(renewed))
      return []
    },
  })
  return {
    notes: [`the gateway opens apps to browsers at ${door.home}`],
    close: async () => {
      stopRenewal()
      await door.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function tlsOf({ serverCertPem: cert, serverKeyPem: key }: Pick<PkiMaterial, 'serverCertPem' | 'serverKeyPem'>) {
  return tlsOptions({ cert, key })
}
