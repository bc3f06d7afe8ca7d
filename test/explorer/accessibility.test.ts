import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What axe finds serious or worse on the page as it is. */
async function seriousOn(page: Page, view: string): Promise<readonly string[]> {
  // A transition that is under way has colours of its own.
  await page.waitForTimeout(400)
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    'axe.run(document, { resultTypes: ["violations"] })',
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${view}: ${id} ${html.slice(0, 120)}`))
}

describe.skipIf(!HAS_BROWSER)('the explorer for who does not see it, or sees it otherwise', () => {
  afterAll(closeBrowser)

  it.each([
    ['light', 1440, 900],
    ['dark', 1024, 768],
    ['light', 390, 844],
    ['dark', 390, 844],
  ] as const)(
    'has nothing serious for axe in any view, %s, %d by %d',
    async (colorScheme, width, height) => {
      const { net, url } = await serveExplorer({ model: NETWORK })
      const { page } = await openPage(url, { colorScheme, viewport: { width, height } })
      const found: string[] = [...(await seriousOn(page, 'login'))]
      await logIn(page)
      const idOf = async (name: string, route: 'GET /identities' | 'GET /services') =>
        (await net.admin.call(route, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
      const [laptop, payroll] = [await idOf('laptop', 'GET /identities'), await idOf('payroll', 'GET /services')]
      const look = async (hash: string, ready: () => Promise<unknown>) => {
        await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
        await ready()
        found.push(...(await seriousOn(page, hash)))
      }
      const group = page.locator('[data-key]').first()
      await look('#/graph', () => group.waitFor())
      await group.click()
      await page.locator('.members a').first().waitFor()
      found.push(...(await seriousOn(page, 'a group')))
      await look('#/start', () => page.locator('.findings a').first().waitFor())
      await look(`#/identity?id=${laptop}`, () => page.locator('.list td').first().waitFor())
      await look(`#/service?id=${payroll}`, () => page.locator('.list td').first().waitFor())
      await look('#/attribute?kind=identities&of=staff', () => page.locator('.members a').first().waitFor())
      await look('#/changes', () => page.locator('.audit li').first().waitFor())
      await look(`#/why?identity=${laptop}&service=${payroll}`, () => page.locator('.path').waitFor())
      const edit = `#/what-if?change=edit&of=identities&id=${laptop}&identity=${laptop}&service=${payroll}`
      await look(edit, () => page.locator('.chip').first().waitFor())
      await look('#/live', () => page.getByRole('heading', { name: 'Live' }).waitFor())
      await look(`#/manage?kind=identities&id=${laptop}`, () => page.getByText('Show QR code').waitFor())
      await page.getByText('Show QR code').click()
      found.push(...(await seriousOn(page, 'enrollment')))
      await look('#/manage?kind=posture-checks&new=true', () => page.getByText('one in a line').waitFor())
      await look(`#/json?kind=identities&id=${laptop}`, () => page.locator('.json-text').waitFor())
      expect(found).toEqual([])
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
    expect(await focused()).toBe('Skip to the view')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused()).toMatch(/refused, failed or lost/)
    await page.keyboard.press('/')
    await page.keyboard.type('payr')
    await page.getByRole('option', { name: 'payroll service', exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'payroll' }).waitFor()
    await page.evaluate('location.hash = "#/graph"')
    const staff = page.getByRole('button', { name: /^#staff/ })
    await staff.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('complementary').getByRole('heading', { name: 'Members' }).waitFor()
  }, 60_000)
})
