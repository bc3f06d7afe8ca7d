import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { fillNetwork } from '../../bench/scale/network.ts'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { IS_SHORT } from '../support/suite.ts'

const SIZE = { services: 1000, routers: 60, policies: [300, 60, 20] } as const

/** Where the questions are asked: the size of the window, and of the company. */
const PLACES = [
  { place: 'at a desk', viewport: { width: 1280, height: 720 }, identities: IS_SHORT ? 500 : 10_000 },
  { place: 'by a phone', viewport: { width: 390, height: 844 }, identities: 500 },
] as const

/** Counts what somebody does: each click, and each field that is filled in. */
class Hand {
  acts = 0
  readonly #page: Page
  #began = 0
  readonly took: string[] = []

  constructor(page: Page) {
    this.#page = page
  }

  async click(role: 'link' | 'button' | 'checkbox', name: string | RegExp): Promise<void> {
    this.acts += 1
    await this.#page.getByRole(role, { name, exact: true }).first().click()
  }

  /** Opens what a field finds for a text: one act, as it is one field. */
  async find(field: string, text: string): Promise<void> {
    this.acts += 1
    await this.#page.getByRole('combobox', { name: field }).fill(text)
    await this.#page.keyboard.press('Enter')
  }

  /** Begins a question at the overview. */
  async begin(): Promise<void> {
    await this.#page.evaluate('location.hash = "#/start"')
    await this.#page.locator('.findings a').first().waitFor()
    this.acts = 0
    this.#began = performance.now()
  }

  /** Ends a question that took three acts at most. */
  answered(question: string): void {
    expect([question, this.acts <= 3]).toEqual([question, true])
    this.took.push(`${question}: ${this.acts} acts, ${Math.round(performance.now() - this.#began)} ms`)
  }
}

describe.skipIf(!HAS_BROWSER)('an operator with six questions', () => {
  afterAll(closeBrowser)

  it.each(PLACES)(
    'has each of them answered in three acts, $place',
    async ({ place, viewport, identities }) => {
      const { net, url } = await serveExplorer()
      await fillNetwork(net.storage, { ...SIZE, identities })
      await net.seed({
        identities: [
          { name: 'anna', type: 'Device', isAdmin: false, roleAttributes: ['newcomers'] },
          { name: 'ben', type: 'Device', isAdmin: false, roleAttributes: ['newcomers', 'accountants'] },
          { name: 'stray', type: 'Device', isAdmin: false },
        ],
        services: [{ name: 'payroll', roleAttributes: ['books'] }, { name: 'attic' }],
        servicePolicies: [
          { name: 'money', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#accountants'], serviceRoles: ['#books'] },
        ],
      })
      const management = await net.asAdmin()
      // These give everybody something, and everything somebody.
      for (const id of ['p0', 'p150']) await management.call('DELETE /service-policies/{id}', { params: { id } })
      const { page, problems } = await openPage(url, { viewport })
      await logIn(page)
      const hand = new Hand(page)
      onTestFinished(() => void process.stdout.write(`explorer ${place}: ${hand.took.join('; ')}\n`))

      await hand.begin()
      await hand.click('link', 'Why')
      await hand.find('Identity', 'anna')
      await expect.poll(() => page.getByRole('combobox', { name: 'Identity' }).inputValue()).toBe('anna')
      await hand.find('Service', 'payroll')
      await page.getByText("'anna' may not dial 'payroll'").first().waitFor()
      await page.getByText("Give 'anna' the role attribute accountants").first().waitFor()
      hand.answered('why anna cannot reach payroll')

      await hand.begin()
      await hand.find('Search', 'payroll')
      const reached = page.getByRole('region', { name: /^Reached by/ })
      await reached.getByRole('link', { name: 'ben', exact: true }).waitFor()
      await reached.getByRole('link', { name: 'money', exact: true }).first().waitFor()
      hand.answered('who can')

      await hand.begin()
      await hand.click('link', 'What if')
      await hand.find('Everybody who has', 'newcomers')
      await hand.find('would be given', 'accountants')
      await page.getByRole('row', { name: /\+ Dial.*anna.*payroll/ }).waitFor()
      hand.answered('what if everybody of a group had another role')

      await hand.begin()
      const nothing = page.getByRole('link', { name: /(identities reach|identity reaches) nothing/ })
      await nothing.waitFor()
      await page.getByRole('link', { name: /services? (is|are) reached by nobody/ }).waitFor()
      hand.acts += 1
      await nothing.click()
      await page.getByRole('heading', { name: /(identities reach|identity reaches) nothing/ }).waitFor()
      await page.locator('.found a').first().waitFor()
      hand.answered('who reaches nothing')

      const [money] = (await management.call('GET /service-policies', { query: { filter: 'name = "money"' } })).data
      const params = { id: money?.id ?? '' }
      await management.call('PATCH /service-policies/{id}', { params, body: { serviceRoles: ['#elsewhere'] } })
      await hand.begin()
      await hand.click('link', 'what was changed, and by whom')
      const change = page.getByRole('listitem').filter({ hasText: 'money' }).first()
      await change.getByRole('link', { name: 'Default Admin' }).waitFor()
      expect(await change.textContent()).toMatch(/changed.*Service roles.*− #books.*\+ #elsewhere/)
      hand.answered('what was changed, and who did it')

      await hand.begin()
      await hand.click('link', 'which change took access away')
      hand.acts += 1
      await change.getByRole('button', { name: 'who lost or gained access by it' }).click()
      const lost = change.getByRole('listitem').filter({ hasText: 'ben' })
      await lost.waitFor()
      expect(await lost.textContent()).toMatch(/− Dial ben → payroll/)
      hand.answered('which device lost access, by which change')
      expect(problems).toEqual([])
    },
    240_000,
  )
})
