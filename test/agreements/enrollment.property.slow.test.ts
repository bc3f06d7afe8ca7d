import fc from 'fast-check'
import { createPkiMaterial, type PkiMaterial } from 'portcullis'
import { ApiError } from 'portcullis/client'
import { beforeAll, expect, it } from 'vitest'
import { now } from '../support/certificates/certificates.ts'
import { patience, runs } from '../support/property-runs.ts'
import { METHODS, type Method, type Proof, prepared } from './enrolling.ts'
import { type ControllerProcess, MortalNetwork } from './mortal-network.ts'
import { anyFaultAt, faultsAt, type PlacedFault } from './placed-fault.ts'

/** Steps of a write, and its end. */
const AGREEMENTS = ['write', 'insert', 'update', 'delete']
const TRIES = 3

let pki: PkiMaterial
beforeAll(async () => {
  pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'controller.test', now })
})

async function started(network: MortalNetwork): Promise<ControllerProcess> {
  const process = await network.start()
  if (process === undefined) throw new Error('a process without faults did not begin')
  return process
}

/** Enrolls while steps fail, and afterwards without a fault; the device is let in in the end, by one invitation more at most. */
async function comesBack(network: MortalNetwork, method: Method, faults: readonly PlacedFault[]): Promise<void> {
  let process = await started(network)
  const attempt = await (await prepared(process))(method)
  let proof: Proof | undefined
  network.faultOf = faultsAt(faults)
  for (let left = TRIES; left > 0 && proof === undefined; left -= 1) {
    const ended = await network.outcome(process.life, attempt.enroll(process))
    if (typeof ended !== 'string' && 'value' in ended) proof = ended.value
    // A process that hangs for ever is ended by its owner.
    if (typeof ended === 'string') process.life.isDead = true
    if (process.life.isDead) process = (await network.start()) ?? process
  }
  network.faultOf = () => undefined
  process.life.isDead = true
  process = await started(network)
  if (proof !== undefined) return proof(process)
  const last = await attempt.enroll(process).catch((error: unknown) => error)
  if (typeof last === 'function') return (last as Proof)(process)
  // The token was used up: the controller says so, and the device is let in by what it has, or is invited again.
  expect(last).toBeInstanceOf(ApiError)
  expect(last).toMatchObject({ status: expect.toSatisfy((status: number) => status < 500) })
  if (attempt.own !== undefined) return attempt.own(process)
  await (await (await attempt.again(process)).enroll(process))(process)
}

it(
  'a device or router enrolls, or everybody knows that it did not, whatever step of the controller fails, hangs or is its last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...METHODS),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 3 }),
        async (method, faults) => {
          const network = new MortalNetwork(pki, now)
          await comesBack(network, method, faults)
          await network.close()
        },
      ),
      runs(200, 4),
    )
  },
  patience(600_000),
)
