import type { TestController } from 'portcullis/testing'
import { SYSTEM_CALL } from '../../src/context/call.ts'
import { engineOf } from '../../src/controller/guarded-engine.ts'
import { contextOf } from '../../src/engine/entity-services.ts'
import { byHost } from '../../src/facts/credentials/login-basis.rules.ts'
import { identities } from '../../src/facts/identities/identity.resource.ts'
import { startApiSession } from '../../src/login/api-session-start.ts'
import type { BenchRow } from '../row.ts'
import { seeded } from '../seeded.ts'
import { type Network, network, SPREAD } from './network.ts'
import { adminToken, ask, cpuMs } from './timing.ts'

const SIZE = { identities: 5_000, services: 500, routers: 20 } as const
const FEW = 20
const MANY = 10_000

/** Work that costs the same however many policies grant the same: 10,000 service policies against 20. */
export async function benchManyPolicies(): Promise<BenchRow[]> {
  const few = await figures(FEW)
  const many = await figures(MANY)
  return [...many].map(([name, value]) => ({
    name: `${MANY.toLocaleString('en')} service policies: ${name}`,
    value,
    unit: 'ms CPU',
    ceiling: { name: `the same of ${FEW}`, value: few.get(name) ?? 0 },
    target: '<2 x',
  }))
}

async function figures(policies: number): Promise<ReadonlyMap<string, number>> {
  const here = await network({ ...SIZE, policies: [policies, 10, 10] })
  const { controller, token } = here
  const random = seeded(3)
  const pick = (count: number) => Math.floor(random() * count)
  const admin = await adminToken(controller)
  const list = '/edge/client/v1/services?limit=100'
  const advice = () => `/edge/management/v1/identities/i${pick(SIZE.identities)}/policy-advice/s${pick(SIZE.services)}`
  const found = new Map([
    ['list 100 services as an identity', await cpuMs(200, () => ask(controller, list, token))],
    ['policy advice', await cpuMs(500, () => ask(controller, advice(), admin))],
    ['change the attributes of an identity until visible', await cpuMs(300, regroup(here, pick))],
    ['begin an API session', await cpuMs(200, () => begin(controller, `i${pick(SIZE.identities)}`))],
    ['change a policy until a list of 100 services shows it', await cpuMs(50, rewrite(here, list))],
    ['service session', await cpuMs(200, dial(here))],
  ])
  await controller.close()
  return found
}

function regroup({ controller }: Network, pick: (count: number) => number): () => Promise<unknown> {
  const { engine, storage } = controller
  return async () => {
    const roleAttributes = SPREAD.flatMap((oneIn, number) => (pick(oneIn) === 0 ? [`a${number}`] : []))
    await engine.identities.patch(SYSTEM_CALL, `i${100 + pick(1_000)}`, { roleAttributes })
    await storage.read((tx) => contextOf(engineOf(engine)).access.at(tx))
  }
}

async function begin({ engine, storage }: TestController, identityId: string): Promise<void> {
  const identity = await storage.read((tx) => tx.collection(identities).get(identityId))
  if (identity === undefined) throw new Error(`${identityId} is gone`)
  await startApiSession(contextOf(engineOf(engine)), SYSTEM_CALL, { identity }, byHost())
}

function rewrite({ controller, token }: Network, list: string): () => Promise<unknown> {
  let round = 0
  return async () => {
    round += 1
    await controller.engine.servicePolicies.patch(SYSTEM_CALL, `p${round % FEW}`, { serviceRoles: [`#a${round % 8}`] })
    await ask(controller, list, token)
  }
}

/** Asks for a session at a service that has none yet, or for the one that there is. */
function dial({ controller, token }: Network): () => Promise<unknown> {
  let round = 0
  return async () => {
    round += 1
    const serviceId = `s${round % SIZE.services}`
    const { access, storage } = contextOf(engineOf(controller.engine))
    const index = await storage.read((tx) => access.at(tx))
    const [type] = index.accessTypes('i7', serviceId)
    if (type === undefined) return
    await ask(controller, '/edge/client/v1/sessions', token, { serviceId, type })
  }
}

if (import.meta.main) {
  for (const { name, value, unit, ceiling } of await benchManyPolicies()) {
    console.log(name.padEnd(90), value.toFixed(3), unit, `${(value / (ceiling?.value ?? 1)).toFixed(2)} x`)
  }
}
