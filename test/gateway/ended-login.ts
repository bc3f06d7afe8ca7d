import type { Ending } from './gateway-endings-rows.ts'
import { PASSWORD, type ServedGateway } from './served-gateway.ts'

let count = 0

/** Lets a new identity log in and begin an answer, ends something, and says whether the answer was cut and what the next page is. */
export async function ended(world: ServedGateway, end: (ending: Ending) => Promise<unknown>) {
  const { net, origin } = world
  count += 1
  const name = `user-${count}`
  const body = { name, type: 'User' as const, isAdmin: false, roleAttributes: ['staff'] }
  const { id } = (await net.admin.call('POST /identities', { body })).data
  const login = { method: 'updb' as const, identityId: id, username: name, password: PASSWORD }
  await net.admin.call('POST /authenticators', { body: login })
  const browser = world.browser()
  await browser.logIn(`${origin('home')}/`, { username: name, password: PASSWORD })
  // The app goes on writing, so that its page never ends.
  let address = `${origin('payroll')}/`
  const navigation = { headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' } }
  let answer = await browser.open(address, navigation)
  while (answer.headers.location !== undefined) {
    address = new URL(answer.headers.location, address).href
    answer.resume()
    answer = await browser.open(address, navigation)
  }
  const cut = new Promise<boolean>((resolve) => {
    answer.on('error', () => undefined).resume()
    answer.once('close', () => resolve(!answer.complete))
  })
  const { data } = await net.admin.call('GET /api-sessions', { query: { filter: `identity="${id}"` } })
  await end({ world, id, name, apiSessionId: data[0]?.id ?? '' })
  const isCut = await cut
  return { isCut, next: (await browser.send(`${origin('payroll')}/`, navigation)).status }
}
