import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { foundOn } from './found-by-axe.ts'
import { NETWORK } from './network.ts'

/** A word that has no place to be broken, longer than any window is wide. */
const LONG = 'x'.repeat(200)
const LONG_NAMES = {
  identities: [{ name: `person-${LONG}`, type: 'Device' as const, isAdmin: false, roleAttributes: [LONG, 'staff'] }],
  services: [{ name: `service-${LONG}`, roleAttributes: [LONG] }],
  postureChecks: [{ name: `check-${LONG}`, typeId: 'DOMAIN', domains: [`${LONG}.example`], roleAttributes: [LONG] }],
  servicePolicies: [
    {
      name: `policy-${LONG}`,
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: [`#${LONG}`],
      serviceRoles: [`#${LONG}`],
      postureCheckRoles: [`#${LONG}`],
    },
  ],
} as const

describe.skipIf(!HAS_BROWSER)('the explorer for who does not see it, or sees it otherwise', () => {
  afterAll(closeBrowser)

  it.each([
    ['light', 1440, 900],
    ['dark', 1024, 768],
    ['light', 390, 844],
    ['dark', 390, 844],
  ] as const)(
    'has nothing for axe in any view, %s, %d by %d',
    async (colorScheme, width, height) => {
      const { net, url } = await serveExplorer({ model: NETWORK })
      const { page } = await openPage(url, { colorScheme, viewport: { width, height } })
      const found: string[] = [...(await foundOn(page, 'login'))]
      await logIn(page)
      const idOf = async (name: string, route: 'GET /identities' | 'GET /services') =>
        (await net.admin.call(route, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
      const [laptop, payroll] = [await idOf('laptop', 'GET /identities'), await idOf('payroll', 'GET /services')]
      const look = async (hash: string, ready: () => Promise<unknown>) => {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
        await ready()
        found.push(...(await foundOn(page, hash)))
      }
      const group = page.locator('[data-key]').first()
      await look('#/graph', () => group.waitFor())
      await look('#/graph?as=policies', () => page.locator('.group-policies, .map-list').first().waitFor())
      await look('#/graph?as=matrix', () => page.locator('.heat, .map-list').waitFor())
      await look('#/graph?identitiesBy=staff', () => page.getByRole('button', { name: /^#staff/ }).waitFor())
      await group.click()
      await page.locator('.members a').first().waitFor()
      found.push(...(await foundOn(page, 'a group')))
      await look('#/start', () => page.locator('.findings a').first().waitFor())
      await look(`#/identity?id=${laptop}`, () => page.locator('.list td').first().waitFor())
      await look(`#/service?id=${payroll}`, () => page.locator('.list td').first().waitFor())
      await look('#/attribute?kind=identities&of=staff', () => page.locator('.members a').first().waitFor())
      const routes = ['service-policies', 'edge-router-policies', 'service-edge-router-policies'] as const
      for (const kind of routes) {
        const [policy] = (await net.admin.call(`GET /${kind}`)).data
        const view = kind === 'service-policies' ? 'policy' : kind.replace('policies', 'policy')
        await look(`#/${view}?id=${policy?.id}`, () => page.locator('.entity-head').waitFor())
      }
      const [router] = (await net.admin.call('GET /edge-routers')).data
      await look(`#/router?id=${router?.id}`, () => page.getByRole('region', { name: /^Circuits now/ }).waitFor())
      const [check] = (await net.admin.call('GET /posture-checks')).data
      await look(`#/check?id=${check?.id}`, () => page.getByText('Asks for').waitFor())
      await look('#/changes', () => page.locator('.audit li').first().waitFor())
      await look(`#/why?identity=${laptop}&service=${payroll}`, () => page.locator('.path, .way-list').waitFor())
      const edit = `#/what-if?change=edit&of=identities&id=${laptop}&identity=${laptop}&service=${payroll}`
      await look(edit, () => page.locator('.chip').first().waitFor())
      await look('#/live', () => page.getByRole('region', { name: 'Who talks to whom' }).waitFor())
      await look(`#/manage?kind=identities&id=${laptop}`, () => page.getByText('Show QR code').waitFor())
      await page.getByText('Show QR code').click()
      found.push(...(await foundOn(page, 'enrollment')))
      await look('#/manage?kind=identities&filter=-attr:hosts+onlin:no', () => page.locator('.chip-wrong').waitFor())
      await look('#/manage?kind=identities&filter=-attr:hosts', () => page.locator('.tick').nth(1).waitFor())
      await page.locator('.menu summary').click()
      found.push(...(await foundOn(page, 'the choice of columns')))
      await page.getByRole('heading', { name: 'Manage' }).click()
      expect(await page.locator('.menu[open]').count()).toBe(0)
      await page.getByRole('checkbox', { name: 'Select laptop' }).check()
      found.push(...(await foundOn(page, 'selected')))
      await page.getByRole('button', { name: 'Delete…' }).click()
      await page.getByRole('dialog').locator('.decline').waitFor()
      found.push(...(await foundOn(page, 'deletion of many')))
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await look('#/account', () => page.getByRole('button', { name: 'Add a second factor' }).waitFor())
      await page.getByRole('button', { name: 'Add a second factor' }).click()
      await page.getByRole('img', { name: 'QR code of the second factor' }).waitFor()
      found.push(...(await foundOn(page, 'a second factor')))
      await look('#/json?kind=edge-routers', () => page.locator('.tick').nth(1).waitFor())
      await look('#/json?kind=posture-checks&new=true', () => page.getByLabel('Type', { exact: true }).waitFor())
      await look(`#/json?kind=identities&id=${laptop}&as=json`, () => page.locator('.json-text').waitFor())
      expect(found).toEqual([])
    },
    120_000,
  )

  it.each([
    ['light', 1440, 900],
    ['dark', 390, 844],
  ] as const)(
    'has nothing for axe on pages of entities with long names, and none that scrolls sideways, %s, %d by %d',
    async (colorScheme, width, height) => {
      const { net, url } = await serveExplorer({ model: LONG_NAMES })
      const { page } = await openPage(url, { colorScheme, viewport: { width, height } })
      await logIn(page)
      await page.locator('.findings a').first().waitFor()
      const first = async (
        route: 'GET /identities' | 'GET /services' | 'GET /service-policies' | 'GET /posture-checks',
      ) => (await net.admin.call(route)).data.find(({ name }) => name.includes(LONG))?.id ?? ''
      const [identity, service] = [await first('GET /identities'), await first('GET /services')]
      const hashes = [
        `#/identity?id=${identity}`,
        `#/service?id=${service}`,
        `#/policy?id=${await first('GET /service-policies')}`,
        `#/check?id=${await first('GET /posture-checks')}`,
        `#/attribute?kind=identities&of=${LONG}`,
        `#/why?identity=${identity}&service=${service}`,
        '#/graph',
        '#/manage?kind=service-policies',
      ]
      const found: string[] = []
      const wide: string[] = []
      for (const hash of hashes) {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
        await page.locator('main section').first().waitFor()
        await expect.poll(() => page.locator('main .skeleton').count(), { timeout: 20_000 }).toBe(0)
        found.push(...(await foundOn(page, hash.slice(0, 40))))
        const isWide = '(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector("main"))'
        if (await page.evaluate<boolean>(isWide)) wide.push(hash.slice(0, 40))
      }
      expect({ found, wide }).toEqual({ found: [], wide: [] })
    },
    120_000,
  )

  it('is gone through by the keyboard: a key leads to the search, and the first number is three stops behind it', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(url)
    await logIn(page)
    await page.locator('.findings a').first().waitFor()
    const focused = () =>
      page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to what is shown')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused()).toMatch(/refused, failed or lost/)
    await page.keyboard.press('/')
    await page.keyboard.type('payr')
    await page.getByRole('option', { name: 'payroll service', exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'payroll' }).waitFor()
    await page.evaluate('location.hash = "#/graph?identitiesBy=staff"')
    const staff = page.getByRole('button', { name: /^#staff/ })
    await staff.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('complementary').getByRole('heading', { name: 'Members' }).waitFor()
  }, 60_000)

  it('has its first result three stops of the keyboard away in every view, whatever fields stand before it', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(url)
    await logIn(page)
    await page.locator('.findings a').first().waitFor()
    const all = (await net.admin.call('GET /identities')).data
    const laptop = all.find(({ name }) => name === 'laptop')?.id ?? ''
    const payroll = (await net.admin.call('GET /services')).data.find(({ name }) => name === 'payroll')?.id ?? ''
    const views = [
      ['#/graph', '.map [role=button]'],
      ['#/graph?as=matrix', '.heat-head'],
      [`#/why?identity=${laptop}&service=${payroll}`, '.why-body button, .why-body figure'],
      ['#/live', '.traffic a, .live-body a'],
      // Records of the host are one line that opens.
      ['#/changes', '.audit a, .audit button'],
      ['#/manage?kind=identities', '.list td a'],
      ['#/manage?kind=service-policies', '.list td a'],
      ['#/json?kind=identities', '.list td a'],
      [`#/identity?id=${laptop}`, '.list td a'],
      [`#/service?id=${payroll}`, '.list td a'],
    ] as const
    const missed: string[] = []
    for (const [hash, result] of views) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.locator(result).first().waitFor()
      await page.locator('.skip').focus()
      await page.keyboard.press('Enter')
      const isReached = () => page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(result)})`)
      let stops = 1
      do {
        await page.keyboard.press('Tab')
        stops += 1
      } while (stops < 3 && !(await isReached()))
      if (!(await isReached())) missed.push(hash)
    }
    expect(missed).toEqual([])
  }, 60_000)

  it('scrolls sideways in no view of a phone, whatever was changed', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    await net.admin.call('POST /services', { body: { name: `long-${'x'.repeat(180)}` } })
    const { page } = await openPage(url, { viewport: { width: 390, height: 844 } })
    await logIn(page)
    await page.locator('.findings a').first().waitFor()
    const wide: string[] = []
    for (const view of ['start', 'changes', 'live', 'why', 'what-if', 'manage?kind=services', 'json']) {
      await page.evaluate(`location.hash = "#/${view}"`)
      await page.waitForTimeout(500)
      const main = '(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector("main"))'
      if (await page.evaluate<boolean>(main)) wide.push(view)
    }
    expect(wide).toEqual([])
  }, 60_000)
})
