import assert from 'node:assert/strict'
import type { DeviceClient } from '../device.ts'
import {
  describeService,
  FOREIGN_DOMAIN,
  isPassing,
  type ListedService,
  listServices,
  queriesOf,
  responseTo,
} from '../posture.ts'
import type { Tick } from '../story.ts'

/** A session of the laptop and the service it is for. */
export interface Reached {
  readonly sessionId: string
  readonly service: ListedService
}

/** Answers the posture queries of a service and gets a session to dial it. */
export async function reachService(client: DeviceClient, name: string, tick: Tick): Promise<Reached> {
  await leaveDomain(client, name, tick)
  const listed = await listServices(client)
  for (const service of listed) tick(describeService(service))
  const before = serviceNamed(listed, name)
  assert.ok(!isPassing(before), `${name} passes before any posture response`)

  const responses = queriesOf(before).map(responseTo)
  await client.call('POST /posture-response-bulk', { body: responses })
  tick(`posture responses sent: ${responses.map(({ typeId }) => typeId).join(', ')}`)

  const service = serviceNamed(await listServices(client), name)
  tick(describeService(service))
  assert.ok(isPassing(service), `${name} does not pass after the posture responses`)

  const { data: session } = await client.call('POST /sessions', { body: { serviceId: service.id, type: 'Dial' } })
  const routers = session.edgeRouters.map(({ name, isOnline }) => `${name} (${isOnline ? 'online' : 'offline'})`)
  tick(`${session.type} session ${session.id} created, by edge router ${routers.join(' or ')}`)
  return { sessionId: session.id, service }
}

/** An earlier run that was interrupted may have left good posture behind: then the laptop leaves the domain first. */
async function leaveDomain(client: DeviceClient, name: string, tick: Tick): Promise<void> {
  const service = serviceNamed(await listServices(client), name)
  const query = queriesOf(service).find(({ queryType }) => queryType === 'DOMAIN')
  if (!isPassing(service) || query === undefined) return
  await client.call('POST /posture-response', { body: { id: query.id, typeId: 'DOMAIN', domain: FOREIGN_DOMAIN } })
  tick(`an interrupted run left the laptop in its domain: it is in ${FOREIGN_DOMAIN} now`)
}

/** Finds a listed service. */
export function serviceNamed(listed: readonly ListedService[], name: string): ListedService {
  const service = listed.find((candidate) => candidate.name === name)
  assert.ok(service, `${name} is not listed`)
  return service
}
