import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSERS, type DrivenPage } from '../../support/driven-browser.ts'
import { type AttackedGateway, attackedGateway, logIn } from './attacked-gateway.ts'
import { ATTACKS, type Attack } from './attacks.ts'

/** Milliseconds for a browser to send what a page of an attacker tries. */
const SENT_MS = 3000
/** Milliseconds for a browser to send it again, or something more. */
const AGAIN_MS = 200

let attacked: AttackedGateway
beforeAll(async () => {
  attacked = await attackedGateway()
})
afterAll(() => attacked.close())

/** Waits while something is not there yet; answers whether it came. */
async function comes(isThere: () => boolean): Promise<boolean> {
  for (let left = SENT_MS; left > 0 && !isThere(); left -= 50) await new Promise((resolve) => setTimeout(resolve, 50))
  await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  return isThere()
}

/** Has a page of an attacker try something. Answers what the app was asked, and whether the browser asked the gateway at all. */
async function tried(page: DrivenPage, { isFromApp, name, script }: Attack, from: string, path: string) {
  const { world, atApp, atGateway, evil } = attacked
  const payroll = world.origin('payroll')
  // An address is loaded again where the last attack still leads elsewhere.
  const at = isFromApp === true ? `${payroll}/` : from
  await page.goTo(at).catch(() => page.goTo(at))
  const own = `${path}${name}/`
  // Where the page goes at once, the driver may lose the answer.
  await page.run(script({ target: `${payroll}${own}`, redirector: evil('evil.localhost') })).catch(() => undefined)
  const isSent = await comes(() => atGateway.some(({ url }) => url.startsWith(own)))
  const asked = atApp.filter((one) => one.asked.includes(own)).map((one) => one.asked.split(' ')[0])
  return { attack: name, isSent, asked }
}

describe.each(BROWSERS)('in $name', ({ name: browser, isHere, keepsBack, open }) => {
  it.skipIf(!isHere)('links of foreign pages reach an app, and nothing else does', { timeout: 300_000 }, async () => {
    attacked.isOld = false
    const page = await open()
    await logIn(page, `${attacked.world.origin('payroll')}/`)
    for (const [kind, from] of [
      ['evil', attacked.evil('evil.localhost')],
      ['app', `${attacked.world.origin('wiki')}/`],
    ] as const) {
      for (const attack of ATTACKS) {
        const isSent = !keepsBack.includes(attack.name)
        const asked = isSent && attack.isLink === true ? ['GET'] : []
        expect(await tried(page, attack, from, `/${browser}/${kind}/`)).toEqual({ attack: attack.name, isSent, asked })
      }
    }
  })

  it.skipIf(!isHere)(
    'without Sec-Fetch, other apps cause reads as well, and no change',
    { timeout: 300_000 },
    async () => {
      attacked.isOld = true
      const page = await open()
      await logIn(page, `${attacked.world.origin('payroll')}/`)
      for (const [kind, from] of [
        ['evil', attacked.evil('evil.localhost')],
        ['app', `${attacked.world.origin('wiki')}/`],
      ] as const) {
        for (const attack of ATTACKS) {
          const { asked } = await tried(page, attack, from, `/${browser}/old/${kind}/`)
          const mayRead = attack.isPlainRead === true && (kind === 'app' || attack.isFromApp === true)
          const isAllowed = attack.isLink === true || mayRead
          // Some read in pieces.
          const others = asked.filter((method) => !isAllowed || method !== 'GET')
          expect({ attack: attack.name, others }).toEqual({ attack: attack.name, others: [] })
        }
      }
    },
  )
})
