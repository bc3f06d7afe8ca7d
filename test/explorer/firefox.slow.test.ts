import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HAS_FIREFOX, openInFirefox } from '../support/firefox.ts'
import { plainlyServed } from '../support/plainly-served.ts'
import { NETWORK } from './network.ts'

const PATIENT = { timeout: 30_000 }

describe.skipIf(!HAS_FIREFOX)('the explorer in Firefox', () => {
  it('logs in, lists, says why, and saves a form', async () => {
    const net = await createTestController({ clock: 'live', model: NETWORK })
    onTestFinished(() => net.close())
    const page = await openInFirefox(await plainlyServed(net))
    const text = () => page.run('return document.body.innerText')
    const click = (selector: string) => page.run(`document.querySelector(${JSON.stringify(selector)}).click()`)
    const isThere = (selector: string) =>
      expect
        .poll(() => page.run(`return document.querySelector(${JSON.stringify(selector)}) !== null`), PATIENT)
        .toBe(true)
    const goTo = (hash: string) => page.run(`location.hash = ${JSON.stringify(hash)}`)

    await isThere('input[name=username]')
    await page.type('input[name=username]', 'admin')
    await page.type('input[name=password]', 'admin-password\ue007')
    await expect.poll(text, PATIENT).toContain('services have no host')

    await goTo('#/manage?kind=identities')
    for (const name of ['laptop', 'phone', 'server']) await expect.poll(text, PATIENT).toContain(name)

    const idOf = async (route: 'GET /identities' | 'GET /services', name: string) =>
      (await net.admin.call(route, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
    const laptop = await idOf('GET /identities', 'laptop')
    await goTo(`#/why?identity=${laptop}&service=${await idOf('GET /services', 'payroll')}`)
    await expect.poll(text, PATIENT).toContain('company-domain')

    await goTo(`#/json?kind=identities&id=${laptop}`)
    await isThere('form input')
    await page.run(`const field = [...document.querySelectorAll('form input')].find(({ value }) => value === 'laptop')
      field.id = 'name-of-laptop'
      field.select()`)
    await page.type('#name-of-laptop', 'notebook')
    await click('form button[type=submit], form .primary')
    const names = async () => (await net.admin.call('GET /identities')).data.map(({ name }) => name)
    await expect.poll(names, PATIENT).toContain('notebook')
  }, 120_000)
})
