import assert from 'node:assert/strict'
import { ConnectionFailure } from 'portcullis/sdk'
import type { DeviceClient } from '../device.ts'
import { describeService, FOREIGN_DOMAIN, isPassing, listServices, queriesOf } from '../posture.ts'
import { refusalOf } from '../refusal.ts'
import type { Tick } from '../story.ts'
import type { Company } from './create-network.ts'
import { type Reached, serviceNamed } from './reach-service.ts'
import type { OpenPage } from './read-page.ts'

/** Reports a wrong domain, and shows what follows: the policy fails, the session ends, the next request is on record. */
export async function loseService(
  company: Company,
  client: DeviceClient,
  { sessionId, service }: Reached,
  page: OpenPage,
  identityName: string,
  tick: Tick,
): Promise<void> {
  const query = queriesOf(service).find(({ queryType }) => queryType === 'DOMAIN')
  assert.ok(query, `${service.name} asks for no DOMAIN`)
  await client.call('POST /posture-response', { body: { id: query.id, typeId: 'DOMAIN', domain: FOREIGN_DOMAIN } })
  tick(`posture response sent: the laptop is in the domain ${FOREIGN_DOMAIN} now`)

  const failing = serviceNamed(await listServices(client), service.name)
  assert.ok(!isPassing(failing), `${service.name} still passes`)
  tick(describeService(failing))

  await page.untilStill()
  tick('the connection that was open stands still')

  const gone = await refusalOf(client.call('GET /sessions/{id}', { params: { id: sessionId } }))
  assert.equal(gone.code, 'NOT_FOUND')
  tick(`session ${sessionId} is gone (${gone.status} ${gone.code})`)

  const refusal = await refusalOf(client.call('POST /sessions', { body: { serviceId: service.id, type: 'Dial' } }))
  assert.equal(refusal.code, 'INVALID_POSTURE')
  tick(`a new session is refused (${refusal.status} ${refusal.code})`)

  const dialed = await page.laptop.dial(service.name).catch((error: unknown) => error)
  assert.ok(dialed instanceof ConnectionFailure && dialed.code === 'POSTURE_FAILED', `dialed: ${dialed}`)
  tick(`a new connection is refused (${dialed.code}): ${dialed.message}`)
  await page.close()

  const id = company.identities.get(identityName) ?? identityName
  const { data } = await company.management.call('GET /identities/{id}/failed-service-requests', { params: { id } })
  const recorded = data.findLast(({ serviceId }) => serviceId === service.id)
  assert.ok(recorded, 'the failed service request is not recorded')
  const policies = recorded.policyFailures.map(({ policyName }) => policyName).join(', ')
  tick(
    `the admin sees the failed service request: ${recorded.serviceName}, failing policy ${policies}, at ${recorded.when}`,
  )
}
