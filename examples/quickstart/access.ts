import { ApiError } from 'portcullis/client'
import type { DeviceClient } from './device.ts'
import { listServices, queriesOf } from './posture.ts'
import type { Company, Ids } from './steps/create-network.ts'

const TYPES = ['Dial', 'Bind'] as const

/** The answers to an identity that asks for sessions of every service, by service name. */
export async function accessOf(company: Company, client: DeviceClient): Promise<ReadonlyMap<string, string>> {
  const failing = await failingChecks(client, company.postureChecks)
  const access = new Map<string, string>()
  for (const { name } of company.network.services) {
    const serviceId = company.services.get(name) ?? name
    const answers = await Promise.all(TYPES.map((type) => askForSession(client, serviceId, type)))
    const granted = TYPES.filter((_, position) => answers[position] === 'granted')
    const reasons = new Set(answers.flatMap((code) => reasonOf(code, failing.get(serviceId) ?? [])))
    const denied = reasons.size > 0 ? [`denied: ${[...reasons].join('; ')}`] : []
    const none = granted.length + denied.length === 0 ? ['denied: no service policy grants it'] : []
    access.set(name, [granted.join(', '), ...denied, ...none].filter((part) => part !== '').join('; '))
  }
  return access
}

/** The names of the posture checks that do not pass, by service id. */
async function failingChecks(client: DeviceClient, checks: Ids): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Map([...checks].map(([name, id]) => [id, name]))
  const services = await listServices(client)
  return new Map(
    services.map((service) => [
      service.id,
      queriesOf(service).flatMap(({ id, isPassing }) => (isPassing ? [] : (names.get(id) ?? id))),
    ]),
  )
}

/** `granted`, or the code of the controller's refusal. */
async function askForSession(client: DeviceClient, serviceId: string, type: 'Dial' | 'Bind'): Promise<string> {
  try {
    await client.call('POST /sessions', { body: { serviceId, type } })
    return 'granted'
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
}

/** Why a session was refused; nothing where no service policy grants this type of access. */
function reasonOf(code: string, failing: readonly string[]): readonly string[] {
  switch (code) {
    case 'granted':
    case 'NOT_FOUND':
    case 'COULD_NOT_VALIDATE':
      return []
    case 'INVALID_POSTURE':
      return [`posture check ${failing.join(', ')} fails`]
    case 'NO_EDGE_ROUTERS_AVAILABLE':
      return ['no edge router that both may use']
    default:
      return [code]
  }
}
