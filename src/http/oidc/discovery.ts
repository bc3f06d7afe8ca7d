import { discoveryDocument } from '../../domain/oidc/discovery.ts'
import { publishedKeys } from '../../engine/credentials/signing-keys.ts'
import type { OpenIdProvider } from '../../engine/oidc/openid-provider.ts'
import { json, text } from './operations/answers.ts'
import { openIdOperation } from './operations/row.ts'

const SHAPE = { access: 'public', form: true } as const

/** What clients and operators read of the provider. */
export function discoveryOperations(provider: OpenIdProvider) {
  const { tokens } = provider.context
  return [
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /.well-known/openid-configuration', summary: 'Describes the OpenID provider' },
      async ({ issuer }) => json(discoveryDocument(issuer, tokens.algorithm)),
    ),
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /keys', summary: 'Lists the keys that sign tokens, also those of earlier ones' },
      async () => json({ keys: await publishedKeys(provider.context) }),
    ),
    openIdOperation(provider, { ...SHAPE, route: 'GET /healthz', summary: 'Tells that the provider is there' }, ok),
    openIdOperation(provider, { ...SHAPE, route: 'GET /ready', summary: 'Tells that the provider answers' }, ok),
    openIdOperation(
      provider,
      { ...SHAPE, route: 'GET /logged-out', summary: 'Where a logout leads that names no other place' },
      async () => text('signed out successfully'),
    ),
  ]
}

async function ok() {
  return json({ status: 'ok' })
}
