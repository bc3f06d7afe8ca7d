import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionFailure, enroll, openIdentity, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrollRouter, runRouter } from '../../adapters/network/router/index.ts'
import type { Admin } from '../../examples/traffic/network.ts'
import { findZiti } from '../../examples/traffic/ziti.ts'
import { type PostureVector, postureVectors } from '../../scripts/posture-vectors.ts'
import { DeployedNetwork } from '../support/deployed-network.ts'
import { LinkedNetwork } from '../support/linked-network.ts'

const ziti = findZiti()
/** A second factor takes minutes of a clock that nobody turns. */
const VECTORS = postureVectors().filter(({ events }) => events.every((event) => 'report' in event))
const MINUTE = 60_000

if (ziti === undefined) {
  console.warn('SKIPPED: no posture vector was tried, because there is no `ziti` on the path and ZITI names none')
}

/** A controller with two routers. */
interface Tried {
  readonly admin: Admin
  /** The ids of the routers. */
  readonly routers: { readonly ours: string; readonly deployed: string }
  readonly vectors: readonly PostureVector[]
  close(): Promise<void>
}

async function underOurs(program: string): Promise<Tried> {
  const network = await LinkedNetwork.open(program)
  const ours = await network.own('ours', { listen: '127.0.0.1:0' })
  const deployed = await network.deployed('deployed', 'both')
  const routers = { ours: ours.id, deployed: deployed.id }
  return { admin: network.admin, routers, vectors: VECTORS, close: () => network.close() }
}

async function underDeployed(program: string): Promise<Tried> {
  const network = await DeployedNetwork.open(program)
  const admin = await network.admin()
  const [quickstart] = Object.values(await admin.call('GET', '/edge-routers'))
  const ours = await admin.create('/edge-routers', { name: 'ours', isTunnelerEnabled: false })
  const { enrollmentJwt } = await admin.call('GET', `/edge-routers/${ours}`)
  const identity = await enrollRouter(String(enrollmentJwt), ['127.0.0.1', 'localhost'])
  const router = await runRouter({ identity, listen: '127.0.0.1:0' })
  await network.untilOnline('ours')
  for (const policy of Object.values(await admin.call('GET', '/service-edge-router-policies'))) {
    await admin.call('DELETE', `/service-edge-router-policies/${Object(policy).id}`)
  }
  const close = async () => {
    await router.close()
    await network.close()
  }
  const vectors = VECTORS.filter(({ check }) => check.semantic !== 'OneOf')
  return { admin, routers: { ours, deployed: String(Object(quickstart).id) }, vectors, close }
}

async function deviceOf(admin: Admin, name: string) {
  const fields = { name, type: 'Device', isAdmin: false, enrollment: { ott: true } }
  const id = await admin.create('/identities', fields)
  const { enrollment } = await admin.call('GET', `/identities/${id}`)
  return { id, device: await enroll(String(Object(Object(enrollment).ott).jwt)) }
}

/** Whether a dial goes through. Rejects where it fails for another reason than access. */
async function isLetIn(device: Awaited<ReturnType<typeof enroll>>, service: string, { check, events }: PostureVector) {
  await using laptop = await openIdentity(device, { sessions: 'bearer' })
  // Deployed routers ask for the system wherever they ask for a process, and every endpoint reports it.
  if (String(check.typeId).startsWith('PROCESS')) await laptop.report({ os: { type: 'linux', version: '6.1.0' } })
  for (const event of events) if ('report' in event) await laptop.report(event.report)
  try {
    const connection = await laptop.dial(service, { timeoutMs: 30_000 })
    connection.destroy()
    return true
  } catch (error) {
    if (error instanceof ConnectionFailure && /^(POSTURE_FAILED|NOT_ALLOWED|SERVICE_NOT_FOUND)$/.test(error.code))
      return false
    throw error
  }
}

/** Maps a few at a time, as a deployed controller can take them. */
async function fewAtOnce<T, R>(all: readonly T[], map: (one: T, at: number) => Promise<R>): Promise<readonly R[]> {
  const queue = all.entries()
  const done: R[] = []
  const takeTurns = async () => {
    for (const [at, one] of queue) done[at] = await map(one, at)
  }
  await Promise.all(Array.from({ length: 4 }, takeTurns))
  return done
}

/**
 * Runs each vector by a service, a policy and a device of its own; answers how those that differ went. Deployed controllers take no check of
 * which `OneOf` is asked.
 */
async function differencesAt({ admin, routers, vectors }: Tried, at: 'ours' | 'deployed') {
  const any = { semantic: 'AnyOf' }
  const edgeRouterRoles = [`@${routers[at]}`]
  await admin.create('/edge-router-policies', { ...any, name: at, edgeRouterRoles, identityRoles: ['#all'] })
  const box = await deviceOf(admin, `box at ${at}`)
  const prepared = await fewAtOnce(vectors, async (vector, number) => {
    const service = `${at}-${number}`
    const id = await admin.create('/services', { name: service, encryptionRequired: false })
    const check = await admin.create('/posture-checks', { ...vector.check, name: `check ${service}` })
    const laptop = await deviceOf(admin, `laptop ${service}`)
    const serviceRoles = [`@${id}`]
    const policy = (type: string, identity: string, postureCheckRoles: readonly string[]) => {
      const roles = { serviceRoles, identityRoles: [`@${identity}`], postureCheckRoles }
      return admin.create('/service-policies', { ...any, ...roles, name: `${service} ${type}`, type })
    }
    await policy('Bind', box.id, [])
    await policy('Dial', laptop.id, [`@${check}`])
    await admin.create('/service-edge-router-policies', { ...any, name: service, serviceRoles, edgeRouterRoles })
    return { vector, service, device: laptop.device }
  })
  await using host = await openIdentity(box.device, { sessions: 'bearer' })
  await fewAtOnce(prepared, ({ service }) =>
    host.host(service, (connection: ServiceConnection) => connection.pipe(connection)),
  )
  const answers = await fewAtOnce(prepared, async ({ vector, service, device }) => {
    const once = () => isLetIn(device, service, vector).catch((error: unknown) => String(error))
    let was = await once()
    // Routers learn of changes a little later.
    for (let tries = 0; was !== vector.passes && tries < 2; tries += 1) {
      await sleep(2000)
      was = await once()
    }
    return was === vector.passes ? [] : [`${vector.name}: ${was === true ? 'let in' : was === false ? 'refused' : was}`]
  })
  return answers.flat().sort()
}

describe.skipIf(ziti === undefined).each([
  ['our controller', underOurs],
  ['a deployed controller', underDeployed],
] as const)('posture vectors under %s', (name, open) => {
  let tried: Tried
  beforeAll(async () => {
    tried = await open(ziti ?? '')
  }, 4 * MINUTE)
  afterAll(() => tried?.close())

  it.each(['ours', 'deployed'] as const)('with a router: %s', { timeout: 8 * MINUTE }, async (at) => {
    const differing = await differencesAt(tried, at)
    console.log(`${name}, router ${at}: ${differing.length} of ${tried.vectors.length} differ\n${differing.join('\n')}`)
    if (at === 'ours') expect(differing).toEqual([])
    else expect(differing.filter((one) => !one.endsWith(': refused'))).toEqual([])
  })
})
