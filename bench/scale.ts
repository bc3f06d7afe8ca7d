import { SYSTEM_CALL } from '../src/context/call.ts'
import { engineOf } from '../src/controller/guarded-engine.ts'
import { contextOf } from '../src/engine/entity-services.ts'
import type { BenchRow } from './row.ts'
import { benchManyPolicies } from './scale/many-policies.ts'
import { LARGE, MANY_SERVICES, MEDIUM, type Network, network, SPREAD } from './scale/network.ts'
import { benchPosture } from './scale/posture.ts'
import { benchTimeouts } from './scale/timeouts.ts'
import { adminToken, ask, timed, timedSync } from './scale/timing.ts'
import { seeded } from './seeded.ts'

/** The questions of administrators and devices at 100,000 identities and at 10,000 services, each until its effect is visible. */
export async function benchScale(): Promise<BenchRow[]> {
  const idle = await timed(20, async () => {})
  const rows: BenchRow[] = [{ name: 'nothing', ...idle }]
  const medium = await network(MEDIUM)
  const few = await serviceList(medium, '5,000 identities')
  rows.push(few)
  await medium.controller.close()
  const large = await network(LARGE)
  rows.push(...building(large, '100,000 identities'))
  const many = await serviceList(large, '100,000 identities')
  rows.push(many, {
    name: 'list 100 services, of 100,000 identities against 5,000',
    value: many.value / few.value,
    unit: 'x',
    target: '<1.2 (W4)',
  })
  rows.push(...(await accessQuestions(large)), ...(await changes(large)))
  await large.controller.close()
  const wide = await network(MANY_SERVICES)
  rows.push(...building(wide, '10,000 services'), await serviceList(wide, '10,000 services'))
  rows.push(...(await accessQuestions(wide)), ...(await changes(wide)))
  await wide.controller.close()
  return [...rows, ...(await benchManyPolicies()), ...(await benchPosture()), ...(await benchTimeouts())]
}

function building({ buildMs, megabytes }: Network, size: string): BenchRow[] {
  return [
    { name: `${size}: build the model`, value: buildMs, unit: 'ms', target: '<5000 ms (W9)' },
    { name: `${size}: memory of the model with its index`, value: megabytes, unit: 'MB', target: '<400 MB (W19)' },
  ]
}

/** The list of services as an identity. */
export async function serviceList(
  { controller, token }: Pick<Network, 'controller' | 'token'>,
  size: string,
): Promise<BenchRow> {
  const path = '/edge/client/v1/services?limit=100'
  const { data }: { data: unknown } = JSON.parse(await ask(controller, path, token))
  const written = timedSync(200, () => JSON.stringify(data))
  const timing = await timed(200, async () => {
    await ask(controller, path, token)
  })
  const ceiling = { name: 'JSON.stringify of the 100 services', value: written }
  return { name: `${size}: list 100 services as an identity`, ...timing, ceiling, target: '<1 ms (W4)' }
}

/** The questions of administrators about access. */
export async function accessQuestions({ controller, size }: Pick<Network, 'controller' | 'size'>): Promise<BenchRow[]> {
  const { engine } = controller
  const random = seeded(2)
  const pick = (count: number) => Math.floor(random() * count)
  const admin = await adminToken(controller)
  const index = await contextOf(engineOf(engine)).storage.read((tx) => contextOf(engineOf(engine)).access.at(tx))
  const advicePath = () => `/identities/i${pick(size.identities)}/policy-advice/s${pick(size.services)}`
  const adviceData: { data: unknown } = JSON.parse(await ask(controller, `/edge/management/v1${advicePath()}`, admin))
  const advice = await timed(200, async () => {
    await ask(controller, `/edge/management/v1${advicePath()}`, admin)
  })
  const everybody = Array.from({ length: size.identities }, (_, number) => `i${number}`)
  const audience = await timed(50, async () => {
    index.identitiesOf(`s${pick(size.services)}`, 'Dial')
  })
  const explained = await timed(200, async () => {
    await engine.access.explain(SYSTEM_CALL, `i${pick(size.identities)}`, `s${pick(size.services)}`, 'Dial')
  })
  const everyone = await timed(3, async () => {
    await engine.access.simulate(SYSTEM_CALL, [{ kind: 'service-policies', action: 'create', body: EVERYONE }])
  })
  const one = await timed(5, async () => {
    const body = { roleAttributes: [`a${pick(SPREAD.length)}`] }
    await engine.access.simulate(SYSTEM_CALL, [
      { kind: 'identities', action: 'update', id: `i${pick(size.identities)}`, body },
    ])
  })
  return [
    {
      name: 'policy advice, over HTTP in process',
      ...advice,
      ceiling: { name: 'JSON.stringify of one', value: timedSync(200, () => JSON.stringify(adviceData.data)) },
      target: '<0.2 ms (W5)',
    },
    {
      name: 'who may dial this service, all of them',
      ...audience,
      ceiling: { name: 'a copy of every id', value: timedSync(50, () => everybody.slice().sort().length) },
      target: '<10 ms (W6)',
    },
    { name: 'explain', ...explained, ceiling: { name: 'policy advice', value: advice.value }, target: '<2 ms (W7)' },
    { name: 'simulate a policy on #all, counts and first page', ...everyone },
    { name: 'simulate one identity attribute', ...one },
  ]
}

const EVERYONE = {
  name: 'everyone',
  type: 'Dial' as const,
  semantic: 'AnyOf' as const,
  identityRoles: ['#all'],
  serviceRoles: ['#all'],
  postureCheckRoles: [],
  tags: {},
}

/** Writes, each until the access index answers by it. */
export async function changes({ controller, token }: Pick<Network, 'controller' | 'token'>): Promise<BenchRow[]> {
  const { engine, storage } = controller
  const { access } = contextOf(engineOf(engine))
  const see = () => storage.read(async (tx) => (await access.at(tx)).allows('i7', 's7', 'Dial'))
  const bare = await timed(50, async () => {
    await storage.write(async () => {})
    await see()
  })
  const ceiling = { name: 'an empty write', value: bare.value }
  const ids: string[] = []
  const create = await timed(20, async () => {
    ids.push((await engine.servicePolicies.create(SYSTEM_CALL, { ...EVERYONE, name: `everyone ${ids.length}` })).id)
    await see()
  })
  let round = 0
  const patch = await timed(20, async () => {
    round += 1
    const semantic = round % 2 === 0 ? 'AllOf' : 'AnyOf'
    await engine.servicePolicies.patch(SYSTEM_CALL, ids[0] ?? '', { semantic, serviceRoles: ['#a1'] })
    await see()
  })
  const remove = await timed(20, async () => {
    await engine.servicePolicies.delete(SYSTEM_CALL, ids.pop() ?? '')
    await see()
  })
  const attribute = await timed(100, async () => {
    round += 1
    await engine.identities.patch(SYSTEM_CALL, `i${round}`, { roleAttributes: [`a${round % SPREAD.length}`] })
    await see()
  })
  const poll = await timed(20, async () => {
    round += 1
    await engine.services.patch(SYSTEM_CALL, `s${round}`, { maxIdleTimeMillis: round })
    await ask(controller, '/edge/client/v1/current-api-session/service-updates', token)
  })
  return [
    { name: 'create a #all policy until visible', ...create, ceiling, target: '<20 ms (W8)' },
    { name: 'patch a #all policy until visible', ...patch, ceiling, target: '<20 ms (W8)' },
    { name: 'delete a #all policy until visible', ...remove, ceiling, target: '<20 ms (W8)' },
    { name: 'change the attributes of one identity until visible', ...attribute, ceiling, target: '<1 ms' },
    { name: 'change one service, and poll service-updates', ...poll, ceiling },
  ]
}

if (import.meta.main) {
  for (const { name, value, unit, ceiling, target, longestHoldMs } of await benchScale()) {
    const ratio = ceiling === undefined ? '' : `${(value / ceiling.value).toFixed(2)} x ${ceiling.name}`
    const hold = longestHoldMs === undefined ? '' : `holds the event loop ${longestHoldMs.toFixed(1)} ms at most`
    console.log([name.padEnd(66), `${value.toPrecision(3)} ${unit}`.padEnd(12), hold, target ?? '', ratio].join('  '))
  }
}
