import { servicePolicies } from '../../src/facts/access/policy.resource.ts'
import { postureChecks } from '../../src/facts/access/posture/posture-check.resource.ts'
import type { RecordOf } from '../../src/kernel/declaration/resource.ts'
import type { BenchRow } from '../row.ts'
import { network } from './network.ts'
import { ask, timed } from './timing.ts'

/** One identity with 50 posture checks under 200 policies reports on all of them at once. */
export async function benchPosture(): Promise<BenchRow[]> {
  const { controller, token } = await network({ identities: 1000, services: 200, routers: 10, policies: [0, 1, 1] })
  const { storage } = controller
  await storage.write(async (tx) => {
    const base = { createdAt: 0, updatedAt: 0, tags: {} }
    for (let i = 0; i < 50; i += 1) {
      const process = { osType: 'Linux', path: `/bin/${i}`, hashes: [], signerFingerprint: '' }
      const named = { id: `c${i}`, name: `check ${i}`, typeId: 'PROCESS', roleAttributes: [`c${i % 10}`], process }
      const record = { ...postureChecks.defaults, ...base, ...named }
      await tx.collection(postureChecks).insert(record as unknown as RecordOf<typeof postureChecks>)
    }
    for (let i = 0; i < 200; i += 1) {
      const roles = { identityRoles: ['@i7'], serviceRoles: [`@s${i}`], postureCheckRoles: [`#c${i % 10}`] }
      const named = { id: `p${i}`, name: `policy ${i}`, type: 'Dial', semantic: 'AnyOf' }
      const record = { ...servicePolicies.defaults, ...base, ...named, ...roles }
      await tx.collection(servicePolicies).insert(record as unknown as RecordOf<typeof servicePolicies>)
    }
  })
  let round = 0
  const responses = () =>
    Array.from({ length: 50 }, (_, i) => ({
      id: `c${i}`,
      typeId: 'PROCESS',
      path: `/bin/${i}`,
      isRunning: round % 2 === 0,
      hash: 'aa',
    }))
  const bulk = await timed(100, async () => {
    round += 1
    await ask(controller, '/edge/client/v1/posture-response-bulk', token, responses())
  })
  const single = await timed(100, async () => {
    round += 1
    await ask(controller, '/edge/client/v1/posture-response-bulk', token, responses().slice(0, 1))
  })
  await controller.close()
  const ceiling = { name: 'a single response', value: single.value }
  return [{ name: 'posture bulk response, 50 checks over 200 policies', ...bulk, ceiling, target: '<2 ms (W15)' }]
}
