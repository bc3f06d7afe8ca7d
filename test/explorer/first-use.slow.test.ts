import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

const NEWCOMERS = Array.from({ length: 4 }, (_, number) => ({
  name: `newcomer-${number}`,
  type: 'Device' as const,
  isAdmin: false,
  roleAttributes: ['newcomers', `desk-${number}`],
}))

/** Each test is a place where somebody stumbled who knew nothing of the page. */
describe.skipIf(!HAS_BROWSER)('the explorer for who sees it for the first time', () => {
  afterAll(closeBrowser)

  it('says that a change is made, tells the same done to many in one line, and who gained by all of it', async () => {
    const { url } = await serveExplorer({
      model: { ...NETWORK, identities: [...NETWORK.identities, ...NEWCOMERS] },
    })
    const { page, problems } = await openPage(`${url}#/what-if`, { viewport: { width: 1280, height: 800 } })
    await logIn(page)
    await pick(page, 'Everybody who has', 'newcomers')
    await pick(page, 'would be given', 'staff')
    await page.getByRole('row', { name: /\+ Dial.*newcomer-0.*wiki/ }).waitFor()
    await page.getByText('4 identities would be given the role attribute').waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Write this change to 4 entities?').waitFor()
    await page.getByRole('button', { name: 'Yes, apply' }).click()
    await page.getByText('The changes are made: 4 entities were written.').first().waitFor()
    await page.getByRole('link', { name: 'See what was changed' }).click()
    const lines = page.locator('.audit > li')
    const line = lines.filter({ hasText: '+ staff' }).first()
    await line.getByRole('button', { name: 'and the same of 3 more' }).waitFor()
    await line.getByRole('button', { name: 'who lost or gained access by all of it' }).click()
    await line.getByText('4 identities gained 2 services.').waitFor()
    const pair = line.getByRole('listitem').filter({ hasText: 'newcomer-3' }).first()
    // The identities and the services that they gained stand beside each other.
    const tops = await Promise.all((await pair.getByRole('link').all()).map((link) => link.boundingBox()))
    expect(new Set(tops.map((box) => Math.round(box?.y ?? 0))).size).toBe(1)
    expect(tops.length).toBe(6)
    const before = await lines.count()
    await line.getByRole('button', { name: 'and the same of 3 more' }).click()
    await expect.poll(() => lines.count(), { timeout: 10_000 }).toBe(before + 3)
    expect(problems).toEqual([])
  }, 90_000)

  it('leads to the policy that is made, and to what was changed', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page, problems } = await openPage(`${url}#/what-if`, { viewport: { width: 1280, height: 800 } })
    await logIn(page)
    await page.getByRole('button', { name: 'New policy' }).click()
    await page.getByLabel('Name', { exact: true }).fill('visitors-wiki')
    await pick(page, 'Identity roles', '#visitors')
    await pick(page, 'Service roles', 'wiki')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Yes, apply' }).click()
    const note = page.getByText('The changes are made: one entity was written.').first()
    await note.waitFor()
    expect(await note.getByRole('link').allTextContents()).toEqual(['visitors-wiki', 'See what was changed'])
    await note.getByRole('link', { name: 'visitors-wiki' }).click()
    await page.getByRole('heading', { name: 'visitors-wiki', exact: true }).waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  it('praises nothing of a network without routers', async () => {
    const { url } = await serveExplorer()
    const { page } = await openPage(`${url}#/start`)
    await logIn(page)
    await page.getByText('0 of 0').waitFor()
    expect(await page.locator('.count-good').count()).toBe(0)
    await page.evaluate('location.hash = "#/live"')
    await page.getByText('There are no routers yet.').waitFor()
    expect(await page.locator('.count-good').count()).toBe(0)
    expect(await page.getByRole('heading', { name: 'Routers' }).count()).toBe(0)
  }, 60_000)

  it('says how far a network is set up, while another administrator goes on with it', async () => {
    const { net, url } = await serveExplorer()
    const { page } = await openPage(`${url}#/json`, { viewport: { width: 1280, height: 800 } })
    await logIn(page)
    const step = (name: string) =>
      page.locator('.steps li').filter({ has: page.getByRole('link', { name, exact: true }) })
    for (const name of ['edge routers', 'services', 'identities', 'service policies']) {
      await step(name).getByText('none yet').waitFor()
    }
    await net.admin.call('POST /edge-routers', { body: { name: 'edge' } })
    await step('edge routers').getByText('✓ 1').waitFor()
    await step('services').getByText('none yet').waitFor()
  }, 60_000)

  it('shows the way from an identity to its host whole on a small screen of a desk, and no digest of a secret', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const laptop = (await net.admin.call('GET /identities')).data.find(({ name }) => name === 'laptop')?.id
    const payroll = (await net.admin.call('GET /services')).data.find(({ name }) => name === 'payroll')?.id
    const { page } = await openPage(`${url}#/why?identity=${laptop}&service=${payroll}`, {
      viewport: { width: 1024, height: 768 },
    })
    await logIn(page)
    await page.locator('.path svg').waitFor()
    const hidden = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.path'))"
    expect(await page.evaluate<number>(hidden)).toBe(0)
    await page.evaluate('location.hash = "#/changes?of=all"')
    const lines = page.getByRole('button', { name: /^(each of them|with )/ })
    await lines.first().waitFor()
    for (const line of await lines.all()) await line.click()
    await page.getByText('not shown').or(page.getByText('created authenticator')).first().waitFor()
    expect(await page.locator('main').textContent()).not.toContain('sha256:')
  }, 60_000)
})
