import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('what the explorer says and does is what was asked', () => {
  afterAll(closeBrowser)

  it('picks what was found for the text in the field, however late it comes', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/why`)
    await logIn(page)
    const field = page.getByRole('combobox', { name: 'Identity' })
    await field.fill('phone')
    await page.getByRole('option', { name: /phone/ }).waitFor()
    await page.route('**/search?**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 800))
      await route.continue()
    })
    await field.fill('lapt')
    await page.waitForTimeout(400)
    expect(await page.getByRole('option', { name: /phone/ }).count()).toBe(0)
    await page.keyboard.press('Enter')
    await expect.poll(() => field.inputValue()).toBe('laptop')
  }, 60_000)

  it('says that a dial leads nowhere where nothing hosts the service, and shows what does', async () => {
    const presence = { connectionOf: () => ({ hostname: 'edge.example', supportedProtocols: {} }) }
    const { net, url } = await serveExplorer({
      presence,
      model: {
        ...NETWORK,
        identities: [{ name: 'laptop', type: 'Device', isAdmin: false, roleAttributes: ['staff'] }],
        edgeRouters: [{ name: 'edge' }],
        edgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] }],
        serviceEdgeRouterPolicies: [
          { name: 'all', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#all'] },
        ],
      },
    })
    const [router] = (await net.admin.call('GET /edge-routers')).data
    const [wiki] = (await net.admin.call('GET /services', { query: { filter: 'name = "wiki"' } })).data
    const { page } = await openPage(`${url}#/why`)
    await logIn(page)
    await pick(page, 'Identity', 'laptop')
    await pick(page, 'Service', 'wiki')
    await page.getByText('nothing hosts the service').first().waitFor()
    expect(await page.locator('.verdict').getAttribute('class')).toContain('verdict-warn')
    await page.locator('.stop-title', { hasText: 'Nothing hosts it' }).waitFor()
    const body = { service: wiki?.id ?? '', router: router?.id ?? '', binding: 'transport', address: 'tcp:127.0.0.1:1' }
    await net.admin.call('POST /terminators', { body })
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.locator('.verdict-good').waitFor()
  }, 60_000)

  it('keeps role attributes that another administrator gave meanwhile, and no policy that became another one', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/what-if`)
    await logIn(page)
    await pick(page, 'An identity, a service', 'phone')
    await pick(page, 'Role attributes', 'staff')
    await page.getByRole('cell', { name: '+ Dial' }).first().waitFor()
    const phones = async () => (await net.admin.call('GET /identities', { query: { filter: 'name = "phone"' } })).data
    const id = (await phones())[0]?.id ?? ''
    await net.admin.call('PATCH /identities/{id}', {
      params: { id },
      body: { roleAttributes: ['visitors', 'audited'] },
    })
    const apply = async () => {
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByRole('button', { name: 'Yes, apply' }).click()
    }
    await apply()
    await expect.poll(async () => (await phones())[0]?.roleAttributes).toEqual(['audited', 'staff', 'visitors'])

    await pick(page, 'An identity, a service', 'staff-wiki')
    await page.getByLabel('Selects who has').selectOption('AllOf')
    const [policy] = (await net.admin.call('GET /service-policies', { query: { filter: 'name = "staff-wiki"' } })).data
    const params = { id: policy?.id ?? '' }
    await net.admin.call('PATCH /service-policies/{id}', { params, body: { identityRoles: ['#staff', '#hosts'] } })
    await apply()
    await page.getByText('Somebody changed the policy staff-wiki meanwhile').waitFor()
    const { data } = await net.admin.call('GET /service-policies/{id}', { params })
    expect([data.semantic, data.identityRoles]).toEqual(['AnyOf', ['#hosts', '#staff']])
  }, 60_000)

  it('tries a new policy before it has a name, and asks for one before it is made', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/what-if?change=empty-policy`)
    await logIn(page)
    await pick(page, 'Identity roles', '#all')
    await pick(page, 'Service roles', '#all')
    await page.getByRole('cell', { name: '+ Dial' }).first().waitFor()
    expect(await page.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true)
    await page.getByText('needs a name before it can be made').waitFor()
  }, 60_000)

  it('suggests the step that gives least to others first, and says how much each gives', async () => {
    const many = Array.from({ length: 5 }, (_, n) => ({
      name: `finance-${n}`,
      type: 'Device' as const,
      isAdmin: false,
      roleAttributes: ['finance'],
    }))
    const { net, url } = await serveExplorer({
      model: {
        identities: [...many, { name: 'anna', type: 'Device', isAdmin: false, roleAttributes: ['staff'] }],
        services: [
          { name: 'payroll', roleAttributes: ['internal'] },
          { name: 'ledger', roleAttributes: ['books'] },
        ],
        servicePolicies: [
          {
            name: 'a',
            type: 'Dial',
            semantic: 'AnyOf',
            identityRoles: ['#staff', '#finance'],
            serviceRoles: ['#books'],
          },
        ],
      },
    })
    const idOf = async (route: 'GET /identities' | 'GET /services', name: string) =>
      (await net.admin.call(route, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
    const about = `identity=${await idOf('GET /identities', 'anna')}&service=${await idOf('GET /services', 'payroll')}`
    const { page } = await openPage(`${url}#/why?${about}`)
    await logIn(page)
    const steps = page.locator('.suggestions li')
    await expect.poll(() => steps.first().textContent()).toMatch(/Create a Dial service policy.*no other/)
    await expect.poll(() => steps.nth(1).textContent()).toMatch(/^or.?Give 'payroll'.*\+5 others/)
  }, 60_000)

  it('asks a new check for the conditions of its type alone, and sends no others', async () => {
    const { net, url } = await serveExplorer()
    const { page } = await openPage(`${url}#/manage?kind=posture-checks`)
    await logIn(page)
    await page.getByRole('link', { name: 'New posture check' }).click()
    await page.getByLabel('Name', { exact: true }).fill('fresh')
    await page.getByLabel('Type', { exact: true }).selectOption('MFA')
    await page.getByLabel('Timeout seconds').fill('60')
    await page.getByLabel('Type', { exact: true }).selectOption('DOMAIN')
    const domains = page.getByLabel('Domains')
    await domains.fill('corp.example')
    expect(await page.getByLabel('Timeout seconds').count()).toBe(0)
    await page.getByRole('button', { name: 'Create' }).click()
    const checks = async () => (await net.admin.call('GET /posture-checks')).data
    await expect
      .poll(async () => (await checks()).map((check) => Reflect.get(check, 'domains')))
      .toEqual([['corp.example']])
    await page.evaluate('location.hash = "#/json?kind=posture-checks&new=true"')
    await page.getByLabel('Name', { exact: true }).fill('fresh factor')
    await page.getByLabel('Type', { exact: true }).selectOption('MFA')
    expect(await domains.count()).toBe(0)
    await page.getByLabel('Timeout seconds').fill('7200')
    await page.getByRole('button', { name: 'Create' }).click()
    await expect.poll(async () => (await checks()).map((check) => Reflect.get(check, 'timeoutSeconds'))).toContain(7200)
  }, 60_000)

  it('shows what turns text around as what it is', async () => {
    const name = 'a\u202eevil'
    const identities = [{ name, type: 'Device' as const, isAdmin: false, roleAttributes: ['staff'] }]
    const { url } = await serveExplorer({ model: { ...NETWORK, identities } })
    const { page } = await openPage(`${url}#/manage?kind=identities`)
    await logIn(page)
    await page.getByRole('link', { name: 'a\\u202eevil' }).waitFor()
    await page.evaluate('location.hash = "#/why"')
    await pick(page, 'Identity', 'evil')
    await pick(page, 'Service', 'payroll')
    await page.locator('.verdict').waitFor()
    expect(await page.locator('main').textContent()).not.toContain('\u202e')
    await page.evaluate('location.hash = "#/live"')
    await page.getByText('as it happens').waitFor()
    expect(await page.locator('main').textContent()).not.toContain('\u202e')
  }, 60_000)

  it('sets a problem as high as its text, in the size of data', async () => {
    const { url } = await serveExplorer()
    const { page } = await openPage(url)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.route('**/access-map?**', (route) => route.abort())
    await page.evaluate('location.hash = "#/graph"')
    const problem = page.locator('.problem').first()
    await problem.waitFor()
    expect((await problem.boundingBox())?.height).toBeLessThan(60)
    expect(await page.evaluate("getComputedStyle(document.querySelector('.problem')).fontSize")).toBe('13px')
  }, 60_000)
})
