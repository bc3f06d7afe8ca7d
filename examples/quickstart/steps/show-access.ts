import { accessOf } from '../access.ts'
import type { DeviceClient } from '../device.ts'
import type { Tick } from '../story.ts'
import { tableLines } from '../table.ts'
import type { Company } from './create-network.ts'

/**
 * Lets every enrolled identity ask for Dial and Bind sessions of every service. Answers a table of what the controller
 * said, which is the last word on access: policies, posture and edge routers together.
 */
export async function showAccess(
  company: Company,
  clients: ReadonlyMap<string, DeviceClient>,
  tick: Tick,
): Promise<readonly string[]> {
  const { identities, services } = company.network
  const rows: string[][] = []
  for (const { name } of identities) {
    const client = clients.get(name)
    const access = client && (await accessOf(company, client))
    for (const service of services) {
      rows.push([name, service.name, access?.get(service.name) ?? 'denied: not enrolled yet'])
    }
  }
  tick('every enrolled identity asked for Dial and Bind sessions of every service')
  return tableLines(['identity', 'service', 'access'], rows)
}
