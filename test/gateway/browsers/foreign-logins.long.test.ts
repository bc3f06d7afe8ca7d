import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSERS, type DrivenPage } from '../../support/driven-browser.ts'
import { PASSWORD } from '../served-gateway.ts'
import { type AttackedGateway, attackedGateway, logIn } from './attacked-gateway.ts'

const COOKIE = '__Host-portcullis-gateway'

let attacked: AttackedGateway
beforeAll(async () => {
  attacked = await attackedGateway()
})
afterAll(() => attacked.close())

const shownTo = async (page: DrivenPage) => String(await page.run('return document.body.innerText'))

/** The ways in which a page of a host writes a cookie for the hosts beside it. */
const tossed = (value: string) => [
  `control=1; Domain=apps.localhost; Path=/`,
  `${COOKIE}=${value}; Domain=apps.localhost; Path=/; Secure`,
  `=${COOKIE}=${value}; Domain=apps.localhost; Path=/; Secure`,
  `==${COOKIE}=${value}; Domain=apps.localhost; Path=/; Secure`,
  ` \t${COOKIE}=${value}; Domain=apps.localhost; Path=/; Secure`,
  `${COOKIE.toLowerCase()}=${value}; Domain=apps.localhost; Path=/; Secure`,
  `${COOKIE.toUpperCase()}=${value}; Domain=apps.localhost; Path=/; Secure`,
  `x=1; ${COOKIE}=${value}; Domain=apps.localhost; Path=/; Secure`,
  `${COOKIE}=${value}; Domain=apps.localhost; Path=/page; Secure`,
]

describe.each(BROWSERS)('in $name', ({ isHere, keepsPrefixes, open }) => {
  it.skipIf(!isHere)('a host beside the apps changes no login', { timeout: 120_000 }, async () => {
    const { world, evil, atApp, atGateway } = attacked
    const payroll = `${world.origin('payroll')}/page`
    const attacker = await world.loggedIn('bob')
    const value = attacker.cookies.get('payroll.apps.localhost')?.get(COOKIE) ?? ''
    expect(value).not.toBe('')
    const page = await open()
    /** Shows the app to a browser for which another host has written a cookie, and takes the cookie back. */
    const seenWith = async (cookie: string) => {
      const write = async (text: string) => {
        await page.goTo(evil('evil.apps.localhost'))
        await page.run(`document.cookie = ${JSON.stringify(text)}`)
      }
      await write(cookie)
      await page.goTo(payroll)
      const seen = await page.run(`return location.hostname + ': ' + document.body.innerText.split('\\n')[0]`)
      await write(`${cookie}; Max-Age=0`)
      return seen
    }
    const loggedOut = 'login.localhost: Log in'
    // A browser that knows no prefixes of names lets other hosts write this cookie: `docs/security.md` names it.
    const [control = '', ...cookies] = tossed(value)
    expect(await seenWith(control)).toBe(loggedOut)
    expect(atGateway.some(({ cookie }) => cookie.includes('control=1'))).toBe(true)
    for (const cookie of keepsPrefixes ? cookies : []) expect(await seenWith(cookie)).toBe(loggedOut)
    await logIn(page, payroll)
    const isAnn = 'payroll.apps.localhost: A page for ann'
    // Two cookies of the name are none: such a browser is nobody then, and itself again when the other one is gone.
    for (const cookie of cookies) {
      const seen = await seenWith(cookie)
      if (keepsPrefixes) expect(seen).toBe(isAnn)
    }
    await page.goTo(payroll)
    expect(await shownTo(page)).toBe('A page for ann')
    expect(atApp.filter(({ caller }) => caller === 'bob')).toEqual([])
  })

  it.skipIf(!isHere)('a link with the login of an attacker logs nobody in', { timeout: 120_000 }, async () => {
    const { world, evil, atApp } = attacked
    const attacker = world.browser()
    await attacker.logIn(`${world.origin('home')}/`, { username: 'bob', password: PASSWORD })
    const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' }
    const begun = await attacker.send(`${world.origin('payroll')}/`, { headers })
    const home = await attacker.send(String(begun.headers.location), { headers })
    const link = String(home.headers.location)
    expect(new URL(link).pathname).toBe('/.portcullis/callback')
    const page = await open()
    await page.goTo(evil('evil.localhost'))
    await page.run(`setTimeout(() => location.assign(${JSON.stringify(link)}), 50)`)
    await expect.poll(() => shownTo(page).catch(() => '')).toContain('This login is over')
    await page.goTo(`${world.origin('payroll')}/`)
    expect(new URL(String(await page.run('return location.href'))).hostname).toBe('login.localhost')
    expect(atApp.filter(({ caller }) => caller === 'bob')).toEqual([])
  })

  it.skipIf(!isHere)(
    'a foreign page ends no login, and reads nothing of a window that it opened',
    { timeout: 120_000 },
    async () => {
      const { world, evil } = attacked
      const page = await open()
      await logIn(page, `${world.origin('payroll')}/`)
      await page.goTo(evil('evil.localhost'))
      const logout = `${world.origin('payroll')}/.portcullis/logout`
      const read = await page.run(`
      await fetch(${JSON.stringify(logout)}, { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(() => 0)
      const opened = window.open(${JSON.stringify(`${world.origin('home')}/`)})
      if (opened === null) return 'no window'
      await new Promise((resolve) => setTimeout(resolve, 1500))
      try { return opened.document.body.innerText } catch (error) { return error.name }`)
      expect(['SecurityError', 'no window']).toContain(read)
      await page.run(`
      const form = document.createElement('form')
      form.action = ${JSON.stringify(logout)}
      form.method = 'post'
      document.body.append(form)
      setTimeout(() => form.submit(), 50)`)
      await expect.poll(() => shownTo(page).catch(() => '')).toContain('Asked for by another site')
      await page.goTo(`${world.origin('payroll')}/`)
      expect(await shownTo(page)).toBe('A page for ann')
    },
  )
})
