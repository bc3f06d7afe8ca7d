import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

const TEAMS = 60

/** More teams than a picture has room for, each with a service; sites divide the identities in another way. */
const MANY_TEAMS = {
  identities: Array.from({ length: 300 }, (_, number) => ({
    name: `person-${number}`,
    type: 'Device' as const,
    isAdmin: false,
    roleAttributes: [`team-${number % TEAMS}`, `site-${number % 7}`],
  })),
  services: Array.from({ length: TEAMS }, (_, number) => ({
    name: `app-${number}`,
    roleAttributes: [`app-${number}`],
  })),
  servicePolicies: Array.from({ length: TEAMS }, (_, number) => ({
    name: `policy-${number}`,
    type: 'Dial' as const,
    semantic: 'AnyOf' as const,
    identityRoles: [`#team-${number}`],
    serviceRoles: [`@app-${number}`],
  })),
}

const DEPARTMENTS = 40
const APPS = 10

/** Forty departments, each of which reaches some of ten kinds of apps, without any order. */
const KNOTTED = {
  identities: Array.from({ length: DEPARTMENTS * 3 }, (_, number) => ({
    name: `person-${number}`,
    type: 'Device' as const,
    isAdmin: false,
    roleAttributes: [`department-${number % DEPARTMENTS}`],
  })),
  services: Array.from({ length: APPS * 5 }, (_, number) => ({
    name: `app-${number}`,
    roleAttributes: [`apps-${number % APPS}`],
  })),
  servicePolicies: Array.from({ length: DEPARTMENTS * 4 }, (_, number) => ({
    name: `policy-${number}`,
    type: 'Dial' as const,
    semantic: 'AnyOf' as const,
    identityRoles: [`#department-${number % DEPARTMENTS}`],
    serviceRoles: [`#apps-${(number * 7 + Math.floor(number / DEPARTMENTS) * (number % 13)) % APPS}`],
  })),
}

async function pageOf(model: Parameters<typeof serveExplorer>[0], hash: string): Promise<Page> {
  const { url } = await serveExplorer(model)
  const { page } = await openPage(`${url}${hash}`, { viewport: { width: 1280, height: 900 } })
  await logIn(page)
  return page
}

const titles = (page: Page, side: string) =>
  page.locator(`.map .group-${side}`).evaluateAll((boxes) => boxes.map((box) => box.getAttribute('aria-label') ?? ''))

describe.skipIf(!HAS_BROWSER)('the picture of who reaches what', () => {
  afterAll(closeBrowser)

  it('has the lines that are drawn leave a box around its middle, however many are left out', async () => {
    const names = (word: string, count: number) => Array.from({ length: count }, (_, number) => `${word}-${number}`)
    const model = {
      identities: names('person', 12).map((name) => ({ name, type: 'Device' as const, isAdmin: false })),
      services: names('app', 10).map((name) => ({ name })),
      servicePolicies: [
        ...[{ name: 'all', type: 'Dial' as const, semantic: 'AnyOf' as const }].map((policy) => ({
          ...{ ...policy, identityRoles: ['#all'], serviceRoles: ['#all'] },
        })),
      ],
    }
    const page = await pageOf({ model }, '#/graph')
    await page.locator('.map .edge').first().waitFor()
    const off = await page.evaluate<number[]>(`(() => {
      const boxes = [...document.querySelectorAll('.map .group-identities rect:first-of-type')]
        .map((one) => one.getBoundingClientRect())
      const starts = [...document.querySelectorAll('.map .edge')].map((path) => {
        const { x, y } = path.getPointAtLength(0).matrixTransform(path.getScreenCTM())
        return { x, y }
      })
      return boxes.map(({ top, bottom }) => {
        const own = starts.filter(({ y }) => y >= top && y <= bottom)
        if (own.length === 0) return 0
        const mean = own.reduce((sum, { y }) => sum + y, 0) / own.length
        return Math.round(Math.abs(mean - (top + bottom) / 2))
      })
    })()`)
    expect(off).toHaveLength(13)
    expect(Math.max(...off)).toBeLessThanOrEqual(1)
  }, 60_000)

  it('has lines of many groups that the eye can follow: each crosses few others, and every box that is linked has one', async () => {
    const page = await pageOf({ model: KNOTTED }, '#/graph')
    await page.locator('.map .edge').first().waitFor()
    const { lines, bare, most } = await page.evaluate<{ lines: number; bare: number; most: number }>(`(() => {
      const ends = [...document.querySelectorAll('.map .edge')].map((path) => {
        const [from, to] = [path.getPointAtLength(0), path.getPointAtLength(path.getTotalLength())]
        return [from.y, to.y]
      })
      const isCrossed = ([from, to], [otherFrom, otherTo]) => (from - otherFrom) * (to - otherTo) < 0
      const crossings = ends.map((one) => ends.filter((other) => isCrossed(one, other)).length)
      const boxes = [...document.querySelectorAll('.map .group-identities')].filter((box) => /department/.test(box.getAttribute('aria-label')))
      const tops = boxes.map((box) => Number(/ ([\\d.]+)\\)/.exec(box.getAttribute('transform'))[1]))
      const bare = tops.filter((top) => !ends.some(([from]) => from >= top && from <= top + 26)).length
      return { lines: ends.length, bare, most: Math.max(...crossings) }
    })()`)
    expect({ bare, isEnough: lines > DEPARTMENTS, isFew: lines <= 60 }).toEqual({
      bare: 0,
      isEnough: true,
      isFew: true,
    })
    expect(most).toBeLessThanOrEqual(6)
    await page.getByText(/more lines appear when what they belong to is pointed at or chosen/).waitFor()
  }, 60_000)

  it('has the names of few entities, and lights up the lines of the one that is pointed at or focused', async () => {
    const page = await pageOf({ model: NETWORK }, '#/graph')
    await page.locator('.map .group').first().waitFor()
    expect((await titles(page, 'identities')).sort()).toEqual(['Default Admin', 'laptop', 'phone', 'server'])
    expect((await titles(page, 'services')).sort()).toEqual(['payroll', 'wiki'])
    expect(await page.locator('.map .edge').count()).toBe(2)
    const dim = () =>
      page
        .locator('.map .group.is-dim')
        .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('aria-label') ?? '').sort())
    await page.getByRole('button', { name: 'payroll' }).hover()
    expect([await page.locator('.map .edge.is-lit').count(), await dim()]).toEqual([
      1,
      ['Default Admin', 'phone', 'server', 'wiki'],
    ])
    await page.mouse.move(1, 1)
    expect(await dim()).toEqual([])
    await page.getByRole('button', { name: 'laptop' }).focus()
    expect([await page.locator('.map .edge.is-lit').count(), await dim()]).toEqual([
      2,
      ['Default Admin', 'phone', 'server'],
    ])
    await page.keyboard.press('Enter')
    await page.getByRole('complementary').getByRole('link', { name: 'Open its page' }).click()
    await page.getByRole('heading', { name: 'laptop' }).waitFor()
  }, 60_000)

  it('has the policies between both sides on demand, each of which leads to its page', async () => {
    const page = await pageOf({ model: NETWORK }, '#/graph')
    await page.getByLabel('Shown as').selectOption('with policies')
    await page.locator('.map .group-policies').first().waitFor()
    expect((await titles(page, 'policies')).sort()).toEqual(['staff-payroll', 'staff-wiki'])
    // From the service through its policy to the identity.
    await page.getByRole('button', { name: 'payroll', exact: true }).hover()
    expect(await page.locator('.map .edge.is-lit').count()).toBe(2)
    await page.getByRole('button', { name: 'staff-payroll' }).click()
    await page.getByRole('heading', { name: 'staff-payroll' }).waitFor()
  }, 60_000)

  it('is a matrix with named rows and columns on demand, in which a mark leads to the reason', async () => {
    const page = await pageOf({ model: NETWORK }, '#/graph')
    await page.getByLabel('Shown as').selectOption('a matrix')
    await page.getByRole('columnheader', { name: 'wiki' }).waitFor()
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'laptop' }) })
    expect(await row.getByRole('link').count()).toBe(2)
    await page.getByRole('row').filter({ hasText: 'phone' }).waitFor()
    expect(await page.getByRole('row').filter({ hasText: 'phone' }).getByRole('link').count()).toBe(0)
    await row.getByRole('link', { name: /payroll: by staff-payroll, if posture passes/ }).click()
    await page
      .getByRole('region', { name: /way from the identity/ })
      .or(page.locator('.why-body'))
      .first()
      .waitFor()
    expect(page.url()).toMatch(/#\/why\?identity=.+&service=.+&type=Dial/)
  }, 60_000)

  it('divides many by one property, which the reader may change, and has no mixture of more than a tenth', async () => {
    const page = await pageOf({ model: MANY_TEAMS }, '#/graph')
    await page.locator('.map .group').first().waitFor()
    const counts = async () =>
      (await titles(page, 'identities')).map((title) => ({ title, count: Number(/(\d+)$/.exec(title)?.[1]) }))
    await page
      .getByRole('button', { name: /^#team-\d+ 5$/ })
      .first()
      .waitFor()
    const teams = await counts()
    const mixed = teams.filter(({ title }) => /–|other attributes/.test(title))
    expect(mixed.length).toBeGreaterThan(0)
    for (const { count } of mixed) expect(count).toBeLessThanOrEqual(30)
    expect(teams.reduce((sum, { count }) => sum + count, 0)).toBe(301)
    await page.getByLabel('Identities by').selectOption({ label: '#site-0 +6' })
    await page.getByRole('button', { name: /^#site-3 / }).waitFor()
    expect((await titles(page, 'identities')).filter((title) => title.startsWith('#')).length).toBe(7)
    await page.reload()
    await page.getByRole('button', { name: /^#site-3 / }).waitFor()
    // A group that is opened has few members, which stand there by name.
    await page.getByRole('button', { name: /^#site-3 / }).click()
    await page.getByRole('complementary').getByRole('link', { name: 'Open this group' }).click()
    await page.getByText('Everything').waitFor()
    await expect.poll(() => page.locator('.map .group-identities').count()).toBeGreaterThan(20)
  }, 90_000)
})
