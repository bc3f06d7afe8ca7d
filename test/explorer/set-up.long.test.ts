import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('a network that is set up in the explorer', () => {
  afterAll(closeBrowser)

  it('has a router with its token, a router policy and a service with its address, by forms alone', async () => {
    const { net, url } = await serveExplorer()
    const { page, problems } = await openPage(`${url}#/json`, { viewport: { width: 1280, height: 800 } })
    await logIn(page)
    await page.getByRole('link', { name: 'New edge router', exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('edge-1')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Save edge-1.jwt' }).waitFor()
    await page.evaluate('location.hash = "#/json?kind=edge-router-policies&new=true"')
    await page.getByLabel('Name', { exact: true }).fill('everybody')
    await pick(page, 'Edge router roles', 'edge-1')
    await pick(page, 'Identity roles', '#all')
    await page.getByRole('button', { name: 'Take #all away' }).waitFor()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
    await page.evaluate('location.hash = "#/json?kind=configs&new=true"')
    await page.getByLabel('Name', { exact: true }).fill('wiki-host')
    await page.getByLabel('Config type').selectOption({ label: 'host.v1' })
    await page.getByRole('group', { name: 'Settings' }).getByLabel('Address', { exact: true }).fill('127.0.0.1')
    await page.getByLabel('Port', { exact: true }).fill('8080')
    await page.getByLabel('Protocol', { exact: true }).selectOption('tcp')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
    const { data: policies } = await net.admin.call('GET /edge-router-policies')
    const { data: routers } = await net.admin.call('GET /edge-routers')
    expect(policies[0]).toMatchObject({
      name: 'everybody',
      identityRoles: ['#all'],
      edgeRouterRoles: [`@${routers[0]?.id}`],
    })
    const { data: configs } = await net.admin.call('GET /configs')
    expect(configs[0]).toMatchObject({ name: 'wiki-host', data: { address: '127.0.0.1', port: 8080, protocol: 'tcp' } })
    expect(problems).toEqual([])
  }, 120_000)

  it('is changed, and its entities are deleted: only what was changed is sent, and a refusal is said in its words', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const laptop = (await net.admin.call('GET /identities')).data.find(({ name }) => name === 'laptop')?.id ?? ''
    const { page } = await openPage(`${url}#/json?kind=identities&id=${laptop}`)
    await logIn(page)
    await page.getByLabel('Name', { exact: true }).fill('phone')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/name/)
    // Another administrator changes another field meanwhile.
    await net.admin.call('PATCH /identities/{id}', {
      params: { id: laptop },
      body: { roleAttributes: ['staff', 'new'] },
    })
    await page.getByLabel('Name', { exact: true }).fill('notebook')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Take #new away' }).waitFor()
    const { data } = await net.admin.call('GET /identities/{id}', { params: { id: laptop } })
    expect(data).toMatchObject({ name: 'notebook', roleAttributes: ['new', 'staff'] })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByRole('link', { name: 'phone' }).waitFor()
    const { data: left } = await net.admin.call('GET /identities')
    expect(left.map(({ name }) => name)).not.toContain('notebook')
    // Records that the controller keeps by itself are folded away among the changes.
    await page.evaluate('location.hash = "#/changes"')
    await page.getByText('deleted identity').first().waitFor()
    expect(await page.locator('main').textContent()).not.toContain('enrollment 0')
    await page.getByRole('button', { name: 'with 1 enrollment' }).first().click()
    await page
      .getByText(/deleted enrollment/)
      .first()
      .waitFor()
  }, 120_000)

  it('lists an identity of many role attributes in one row, four of them and how many more', async () => {
    const roleAttributes = Array.from({ length: 30 }, (_, number) => `attribute-${number}`)
    const { url } = await serveExplorer({
      model: { identities: [{ name: 'laptop', type: 'Device', isAdmin: false, roleAttributes }] },
    })
    const { page } = await openPage(`${url}#/manage?kind=identities`, { viewport: { width: 1280, height: 800 } })
    await logIn(page)
    const row = page.getByRole('row', { name: /laptop/ })
    await row.getByText('+26', { exact: true }).waitFor()
    expect(await row.getByRole('link').count()).toBe(5)
    expect((await row.boundingBox())?.height).toBeLessThan(50)
  }, 60_000)

  it('has a form for every kind that the API creates', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page, problems } = await openPage(`${url}#/json`, { viewport: { width: 1280, height: 900 } })
    await logIn(page)
    await page.getByRole('link', { name: 'New edge router', exact: true }).waitFor()
    const forms = Object.entries(await (await page.request.get(`${url}forms.json`)).json()) as [
      string,
      { create?: object },
    ][]
    // The settings of controllers are no entities to the API.
    const kinds = forms.flatMap(([kind, { create }]) => (create && kind !== 'controller-settings' ? [kind] : []))
    expect(kinds).toEqual(
      expect.arrayContaining(['cas', 'auth-policies', 'external-jwt-signers', 'configs', 'edge-routers']),
    )
    for (const kind of kinds) {
      await page.evaluate(`location.hash = "#/json?kind=${kind}&new=true"`)
      await page.locator('.entity-form .field').first().waitFor()
      await page.getByRole('link', { name: 'JSON', exact: true }).click()
      await page.getByLabel('The request as JSON').waitFor()
    }
    expect(problems).toEqual([])
  }, 120_000)

  it.each([390, 640, 700, 768, 1024, 1220, 1280])(
    'fits a screen of %i px: nothing is cut at its side',
    async (width) => {
      const { url } = await serveExplorer({ model: NETWORK })
      const { page } = await openPage(`${url}#/start`, { viewport: { width, height: 800 } })
      await logIn(page)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      for (const view of ['start', 'manage', 'json', 'json?kind=auth-policies&new=true', 'changes']) {
        await page.evaluate(`location.hash = "#/${view}"`)
        await page.locator('main h1').first().waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
        const logOut = await page.getByRole('button', { name: 'Log out' }).boundingBox()
        expect((logOut?.x ?? 0) + (logOut?.width ?? 0)).toBeLessThanOrEqual(width)
      }
    },
    60_000,
  )
})
