import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attackedGateway } from './attacked-gateway.ts'
import { ANSWERS, type Attacked, FOREIGN_PAGES, HEADERS, LOGINS, SMUGGLING } from './gateway-rows.ts'

let world: Attacked
beforeAll(async () => {
  world = await attackedGateway()
})
afterAll(() => world.close())

describe.each([
  ['requests that two readers could take for different ones', SMUGGLING],
  ['headers that a browser sends', HEADERS],
  ['answers of an app', ANSWERS],
  ['logins', LOGINS],
  ['pages of other origins', FOREIGN_PAGES],
])('a gateway and %s', (_kind, attacks) => {
  it.each(attacks)('%s', async (_attack, tried, seen) => {
    expect(await tried(world)).toEqual(seen)
    // The session of others goes on.
    expect((await world.ann.send(`${world.origin('payroll')}/after`)).status).toBe(200)
  })
})
