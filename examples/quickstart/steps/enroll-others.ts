import { type DeviceClient, logInByCertificate } from '../device.ts'
import type { Tick } from '../story.ts'
import type { Company } from './create-network.ts'
import { enrollIdentity, enrollmentJwt } from './enroll-identity.ts'
import type { ServedController } from './start-controller.ts'

/**
 * Enrolls the other identities and authenticates as each of them, adding them to `clients`. The identity `leftOut` keeps
 * its token for the readers of the story.
 */
export async function enrollOthers(
  { url, ca }: ServedController,
  company: Company,
  clients: ReadonlyMap<string, DeviceClient>,
  leftOut: string,
  tick: Tick,
): Promise<ReadonlyMap<string, DeviceClient>> {
  const all = new Map(clients)
  for (const { name } of company.network.identities) {
    if (all.has(name)) continue
    if (name === leftOut && (await enrollmentJwt(company, name)) !== undefined) {
      tick(`${name} is left to you, see below`)
      continue
    }
    const certificate = await enrollIdentity(company, name, () => undefined)
    all.set(name, await logInByCertificate(url, ca, certificate))
    tick(`${name} enrolled and authenticated`)
  }
  return all
}
