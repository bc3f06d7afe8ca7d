import { expect } from 'vitest'
import { racePairs } from './race-pairs.ts'
import { made, twoProcesses } from './two-processes.ts'

/** The rounds of each pair: `PORTCULLIS_RACE_ROUNDS`, or one. */
export const RACE_ROUNDS = Number(process.env.PORTCULLIS_RACE_ROUNDS ?? 1)

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Runs each pair of contradicting operations over two processes, and checks at the end that the store is whole. */
export async function runRaces(storage: string, cwd: string, rounds: number): Promise<void> {
  const world = await twoProcesses(storage, cwd)
  const admin = world.admin(0)
  const serviceId = await made(admin, '/services', { name: 'web' })
  const roles = { semantic: 'AnyOf', identityRoles: ['#people'], serviceRoles: ['#all'] }
  await made(admin, '/service-policies', { name: 'people dial', type: 'Dial', ...roles })
  await made(admin, '/edge-routers', { name: 'router' })
  await made(admin, '/edge-router-policies', {
    name: 'e',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  })
  const all = { semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#all'] }
  await made(admin, '/service-edge-router-policies', { name: 's', ...all })
  for (let round = 0; round < rounds; round += 1) {
    for (const [position, [name, prepare]] of racePairs(serviceId).entries()) {
      const race = await prepare(world, `racer-${round}-${position}`)
      const [first, second] = race.acts
      // Either may come first: now one is asked some milliseconds earlier, now the other.
      const lead = (round * 7) % 30
      const told = await Promise.all([
        after(round % 2 === 0 ? 0 : lead).then(first),
        after(round % 2 === 0 ? lead : 0).then(second),
      ])
      const broken = told.filter(({ status }) => status >= 500)
      expect(broken, `${name}, round ${round}`).toEqual([])
      await race.check(told).catch((error: unknown) => {
        throw new Error(`${name}, round ${round}: ${told.map(({ status }) => status).join(' and ')}`, { cause: error })
      })
    }
  }
  expect((await admin('POST', '/database/check-data-integrity')).status).toBe(202)
  await expect
    .poll(async () => (await admin('GET', '/database/data-integrity-results')).data, { timeout: 20_000 })
    .toMatchObject({ inProgress: false })
  expect((await admin('GET', '/database/data-integrity-results')).data).toMatchObject({ results: [], error: null })
  await world.stop()
}
