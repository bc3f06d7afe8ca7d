import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended } from './ended-login.ts'
import { ENDINGS } from './gateway-endings-rows.ts'
import { type ServedGateway, servedGateway } from './served-gateway.ts'

let world: ServedGateway
beforeAll(async () => {
  world = await servedGateway()
  await world.net.as('host').host('payroll', (_request, response) => void response.write('begun'))
})
afterAll(() => world.close())

describe('a login of the gateway ends with its API session, and a right with what gave it', () => {
  it.each(ENDINGS)('%s', async (_what, end, next) => {
    expect(await ended(world, end)).toEqual({ isCut: true, next })
  })
})
