import { isListedUri } from '../../../domain/oidc/redirect-uri.ts'
import { effectiveUris, storedSettings } from '../../configs/controller-settings.ts'
import type { ProviderContext } from '../tokens/provider-context.ts'

/** Reports whether clients may be sent to a URI after a login, by the settings of the controller now. */
export async function isRedirectUri(context: ProviderContext, uri: string): Promise<boolean> {
  if (isOwnPage(context, uri)) return true
  const stored = await context.storage.read(storedSettings)
  return isListedUri(uri, effectiveUris(context, stored).redirectUris)
}

/** The same after a logout; here an entry stands for itself alone, also one with a port left open. */
export async function isPostLogoutUri(context: ProviderContext, uri: string): Promise<boolean> {
  if (isOwnPage(context, uri)) return true
  const stored = await context.storage.read(storedSettings)
  return !uri.includes('*') && effectiveUris(context, stored).postLogoutUris.includes(uri)
}

/** The access explorer, which the controller itself answers at the host of an issuer, and nobody else does. */
function isOwnPage({ provider }: ProviderContext, uri: string): boolean {
  return provider.issuers.some((issuer) => uri === new URL('/portcullis/explorer/', issuer).href)
}
