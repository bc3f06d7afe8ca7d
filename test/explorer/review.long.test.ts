import type { Page } from 'playwright-core'
import { createTestController } from 'portcullis/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { plainlyServed } from '../support/plainly-served.ts'
import { HAS_WEBKIT, openInWebKit } from '../support/webkit.ts'

const DEPARTMENTS = ['engineering', 'finance', 'sales', 'legal', 'support', 'security', 'hr', 'marketing']
const SITES = ['berlin', 'london', 'tokyo', 'lima', 'oslo']
const APPS = ['books', 'internal', 'prod', 'staging', 'web', 'iot']

/** A company: everybody has a department, a site, a contract and a device, so that hardly two have the same role attributes. */
const COMPANY = {
  identities: Array.from({ length: 500 }, (_, number) => ({
    name: `person-${number}`,
    type: 'Device' as const,
    isAdmin: false,
    roleAttributes: [
      DEPARTMENTS[number % 8] ?? '',
      SITES[(number * 7) % 5] ?? '',
      number % 6 === 0 ? 'contractors' : 'employees',
      number % 3 === 0 ? 'phones' : 'laptops',
    ],
  })),
  services: Array.from({ length: 60 }, (_, number) => ({
    name: `app-${number}`,
    roleAttributes: [APPS[number % 6] ?? '', DEPARTMENTS[number % 8] ?? ''],
  })),
  servicePolicies: DEPARTMENTS.flatMap((department, number) => [
    {
      name: `${department}-own`,
      type: 'Dial' as const,
      semantic: 'AllOf' as const,
      identityRoles: [`#${department}`],
      serviceRoles: [`#${department}`],
    },
    {
      name: `${department}-shared`,
      type: 'Dial' as const,
      semantic: 'AnyOf' as const,
      identityRoles: [`#${department}`],
      serviceRoles: [`#${APPS[number % 6]}`],
    },
  ]),
}

/** The boxes and lines of the picture, by where they stand. */
interface Drawn {
  readonly boxes: readonly { readonly left: number; readonly right: number; readonly text: string }[]
  readonly lines: readonly { readonly left: number; readonly right: number }[]
}

const DRAWN = `(() => {
  const ends = (one) => { const { left, right } = one.getBoundingClientRect(); return { left, right } }
  const box = (one) => ({ ...ends(one.querySelector('rect')), text: one.getAttribute('aria-label') })
  return { boxes: [...document.querySelectorAll('.map .group')].map(box), lines: [...document.querySelectorAll('.map .edge')].map(ends) }
})()`

/** Lines lie between the boxes, and neither are too many; hardly anybody stands in a rest. */
function expectLegible({ boxes, lines }: Drawn): void {
  expect(boxes.length).toBeGreaterThan(4)
  expect(boxes.length).toBeLessThanOrEqual(30)
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.length).toBeLessThanOrEqual(100)
  const behind = lines.filter((line) => boxes.some((box) => line.left < box.right - 2 && line.right > box.left + 2))
  expect(behind).toEqual([])
  expect(new Set(boxes.map(({ text }) => text)).size).toBe(boxes.length)
  const rest = boxes.find(({ text }) => text.startsWith('None of these'))
  expect(Number(/\d+$/.exec(rest?.text ?? '0')?.[0])).toBeLessThanOrEqual(50)
}

async function companyPage(hash: string): Promise<Page> {
  const { url } = await serveExplorer({ model: COMPANY })
  const { page } = await openPage(`${url}${hash}`)
  await logIn(page)
  return page
}

describe.skipIf(!HAS_BROWSER)('the explorer of a company', () => {
  afterAll(closeBrowser)

  it('draws it in few boxes that differ by name, with lines that pass behind none', async () => {
    const page = await companyPage('#/graph')
    await page.locator('.map .group').first().waitFor()
    expectLegible(await page.evaluate<Drawn>(DRAWN))
    // Pointing at a group shows its lines, and no others.
    await page.locator('.map .group-identities').first().hover()
    await page.locator('.map .edge.is-lit').first().waitFor()
    expectLegible(await page.evaluate<Drawn>(DRAWN))
    // One that is chosen shows its own for as long as it is chosen, wherever the pointer is.
    const lit = () =>
      page.locator('.map .edge.is-lit').evaluateAll((lines) => lines.map((line) => line.getAttribute('d')))
    await page.locator('.map .group-identities').first().click()
    await page.getByRole('complementary').waitFor()
    await page.mouse.move(0, 0)
    const chosen = await lit()
    expect(chosen.length).toBeGreaterThan(0)
    await page.locator('.map .group-services').last().hover()
    await page.locator('.map .group-identities').last().hover()
    expect(await lit()).toEqual(chosen)
  }, 90_000)

  it('draws the strongest line of each group that reaches something, however few of its pairs that are', async () => {
    const host = {
      name: 'host',
      type: 'Bind' as const,
      semantic: 'AnyOf' as const,
      identityRoles: ['@person-3'],
      serviceRoles: ['@app-2'],
    }
    const { url } = await serveExplorer({
      model: { ...COMPANY, servicePolicies: [...COMPANY.servicePolicies, host] },
    })
    const { page } = await openPage(`${url}#/graph?type=Bind`)
    await logIn(page)
    await page.locator('.map .group').first().waitFor()
    expect(await page.locator('.map .edge').count()).toBe(1)
  }, 90_000)

  it('finds every member of a group in it, and shows what is found by its own page', async () => {
    const page = await companyPage('#/graph')
    const groups = page.locator('.map .group-identities')
    await groups.first().waitFor()
    const [name = ''] = (await groups.first().getAttribute('aria-label'))?.split(' ') ?? []
    await groups.first().click()
    const panel = page.getByRole('complementary')
    const member = (await panel.locator('.members a').first().textContent()) ?? ''
    await panel.getByRole('searchbox', { name: 'Find a member' }).fill(member)
    await expect.poll(() => panel.locator('.members a').allTextContents(), { timeout: 10_000 }).toContain(member)
    await page.getByRole('combobox', { name: 'Search' }).fill(member)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: member, exact: true }).waitFor()
    await page.locator('.entity-head').getByRole('link', { name, exact: true }).waitFor()
    await page
      .getByRole('region', { name: /^Reaches: \d+ dial/ })
      .locator('.list td')
      .first()
      .waitFor()
  }, 90_000)

  it('goes back over what was looked at, and says where an address leads nowhere', async () => {
    const page = await companyPage('#/graph')
    const groups = page.locator('.map .group-identities')
    await groups.first().click()
    await page.getByRole('complementary').waitFor()
    await page.goBack()
    await expect.poll(() => page.getByRole('complementary').count(), { timeout: 10_000 }).toBe(0)
    await page.evaluate('location.hash = "#/nonsense"')
    await page.getByText('There is no view of the name nonsense.').waitFor()
    await page.evaluate('location.hash = "#/identity?id=nobody"')
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
  }, 90_000)

  it('leads from the pages of policies and routers to everything that they name, searched and paged', async () => {
    const page = await companyPage('#/start')
    await page.getByRole('combobox', { name: 'Search' }).fill('finance-shared')
    await page.keyboard.press('Enter')
    const people = page.getByRole('region', { name: 'Identities', exact: true })
    await people.getByText('1–20 of 63').waitFor()
    await people.getByRole('button', { name: 'Next' }).click()
    await people.getByText('21–40 of 63').waitFor()
    await people.getByRole('searchbox').fill('person-497')
    await people.getByRole('link', { name: 'person-497' }).waitFor()
    await expect.poll(() => people.getByRole('listitem').count(), { timeout: 10_000 }).toBe(1)
    await people.getByRole('link', { name: '#finance' }).click()
    await page.getByRole('heading', { name: '#finance' }).waitFor()
    const selecting = page.getByRole('region', { name: 'Service policies that select by it' })
    await selecting.getByRole('link', { name: 'finance-own' }).waitFor()
    // The test controller has a router that everybody may use, by policies of both kinds.
    await page.getByRole('combobox', { name: 'Search' }).fill('router')
    await page
      .getByRole('option', { name: /edge router$/ })
      .first()
      .click()
    await page.getByRole('region', { name: 'Edge router policies', exact: true }).getByRole('link').first().click()
    await page.locator('.entity-head').getByText('edge router policy', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Edge routers', exact: true }).getByRole('link').first().waitFor()
    await page.goBack()
    const carried = page.getByRole('region', { name: 'Service edge router policies' })
    await carried.getByRole('link').first().click()
    await page.locator('.entity-head').getByText('service edge router policy', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Services', exact: true }).getByText('of 60').waitFor()
  }, 120_000)

  it('leads from the policies that are managed to everything that they name, and says what it leaves out', async () => {
    const page = await companyPage('#/manage?kind=service-policies')
    const row = page.getByRole('row', { name: /finance-own/ })
    await row.getByRole('link', { name: '#finance', exact: true }).nth(1).waitFor()
    await row.getByRole('link', { name: '#finance', exact: true }).first().click()
    await page.getByRole('heading', { name: '#finance' }).waitFor()
    await page.evaluate('location.hash = "#/why"')
    await page.getByRole('combobox', { name: 'Identity' }).fill('person')
    await page.getByText('These are the first 8 of a kind: type more to find others.').waitFor()
    await pick(page, 'Identity', 'person-0')
    await pick(page, 'Service', 'app-1')
    await page.getByText(/^These are the nearest: \d+ more polic/).waitFor()
  }, 90_000)

  it('prints a view without its controls', async () => {
    const page = await companyPage('#/changes')
    await page.locator('.audit li').first().waitFor()
    await page.emulateMedia({ media: 'print' })
    for (const selector of ['.top', 'button', 'select']) {
      expect([selector, await page.locator(`${selector}:visible`).count()]).toEqual([selector, 0])
    }
    const heights = await page.evaluate<number[]>(
      '[document.querySelector("main").scrollHeight - document.querySelector("main").clientHeight]',
    )
    expect(heights).toEqual([0])
  }, 60_000)
})

describe.skipIf(!HAS_WEBKIT)('the explorer of a company in the engine of Safari', () => {
  it('draws the same picture, and shows somebody whole', async () => {
    const net = await createTestController({ clock: 'live', model: COMPANY })
    onTestFinished(() => net.close())
    const page = await openInWebKit(`${await plainlyServed(net)}#/graph`)
    await page.type('input[name=username]', 'admin')
    await page.type('input[name=password]', `admin-password\ue007`)
    const boxes = () => page.run('return document.querySelectorAll(".map .group").length')
    await expect.poll(boxes, { timeout: 30_000 }).toBeGreaterThan(4)
    expectLegible((await page.run(`return ${DRAWN}`)) as Drawn)
    const [person] = (await net.admin.call('GET /identities', { query: { filter: 'name = "person-9"' } })).data
    await page.run(`location.hash = "#/identity?id=${person?.id}"`)
    const text = () => page.run('return document.body.innerText')
    await expect.poll(text, { timeout: 20_000 }).toMatch(/person-9[\s\S]*Reaches: \d+ dial[\s\S]*finance-own/)
  }, 120_000)
})
