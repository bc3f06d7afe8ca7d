// Compiled by `npm run check:types`, never run: how a host may and may not call the engine.
import { type Controller, SYSTEM_CALL } from 'portcullis'
import type { PostureCheckCreate, Service } from 'portcullis/client'

export async function use({ engine }: Controller): Promise<readonly string[]> {
  const service: Service = await engine.services.create(SYSTEM_CALL, { name: 'web', roleAttributes: ['apps'] })
  const strategy: 'smartrouting' | 'random' | 'weighted' | 'sticky' = service.terminatorStrategy
  const caller = await engine.authentication.byPassword({ by: 'anonymous' }, 'alice', 'password')
  await engine.sessions.create({ by: 'caller', caller }, { serviceId: service.id, type: 'Dial' })
  return [service.createdAt, strategy]
}

export async function misuse({ engine }: Controller): Promise<void> {
  // @ts-expect-error a service has a name
  await engine.services.create(SYSTEM_CALL, {})
  // @ts-expect-error an idle time is a number
  await engine.services.create(SYSTEM_CALL, { name: 'web', maxIdleTimeMillis: 'zzz' })
  // @ts-expect-error what belongs to the system is not said by a request
  await engine.edgeRouterPolicies.create(SYSTEM_CALL, { name: 'x', semantic: 'AnyOf', isSystem: true })
  // @ts-expect-error a check of domains names them
  const check: PostureCheckCreate = { name: 'x', typeId: 'DOMAIN' }
  await engine.postureChecks.create(SYSTEM_CALL, check)
  // @ts-expect-error nothing means full rights by being absent
  await engine.services.create({}, { name: 'web' })
  // @ts-expect-error a method of the host alone is not among those of a call
  await engine.services.get('id')
  // @ts-expect-error a caller is somebody
  await engine.services.create({ by: 'caller' }, { name: 'web' })
}
