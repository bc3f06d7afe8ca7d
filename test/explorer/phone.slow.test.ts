import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

const PHONE = { viewport: { width: 390, height: 844 } }

/** Elements that can be scrolled sideways, or reach beyond the window: no view on a phone has one. */
const TOO_WIDE = `[...document.querySelectorAll('main, main *')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || (one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX)))
  .map((one) => one.tagName + '.' + (one.getAttribute('class') ?? ''))`

async function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(TOO_WIDE)
}

describe.skipIf(!HAS_BROWSER)('the explorer by a phone', () => {
  afterAll(closeBrowser)

  it('lists what is drawn elsewhere, as wide as the window', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const idOf = async (route: 'GET /identities' | 'GET /services', name: string) =>
      (await net.admin.call(route, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
    const why = `#/why?identity=${await idOf('GET /identities', 'laptop')}&service=${await idOf('GET /services', 'payroll')}`
    const { page, problems } = await openPage(`${url}#/graph?identitiesBy=staff&servicesBy=confidential`, PHONE)
    await logIn(page)
    const staff = page.getByRole('button', { name: /^#staff/ })
    await staff.waitFor()
    expect(await staff.textContent()).toMatch(/#staff\s*1\s*may dial .*#confidential/)
    expect(await tooWide(page)).toEqual([])
    await staff.click()
    const panel = page.getByRole('complementary')
    await panel.getByRole('link', { name: 'laptop', exact: true }).waitFor()
    await panel.getByRole('link', { name: 'staff-payroll', exact: true }).waitFor()
    expect(await tooWide(page)).toEqual([])

    await page.evaluate(`location.hash = ${JSON.stringify(why)}`)
    const way = page.getByRole('region', { name: 'The way from the identity to the service' })
    await way.getByRole('link', { name: 'staff-payroll', exact: true }).waitFor()
    const check = way.getByRole('listitem').filter({ hasText: 'company-domain' }).last()
    expect(await check.textContent()).toMatch(/✕.*fails/)
    expect(await tooWide(page)).toEqual([])

    await page.evaluate('location.hash = "#/live"')
    await page.getByText('as it happens').waitFor()
    await page.getByRole('region', { name: 'Who talks to whom' }).waitFor()
    expect(await page.locator('svg.traffic, svg.map').count()).toBe(0)
    expect(await tooWide(page)).toEqual([])
    expect(problems).toEqual([])
  }, 60_000)

  it('breaks no number, and keeps what can be pressed apart', async () => {
    const identities = Array.from({ length: 40 }, (_, number) => ({
      name: `guest-${number}`,
      type: 'Device' as const,
      isAdmin: false,
      roleAttributes: ['guests'],
    }))
    const services = Array.from({ length: 30 }, (_, number) => ({
      name: `app-${number}`,
      roleAttributes: ['confidential'],
    }))
    const { net, url } = await serveExplorer({
      model: {
        ...NETWORK,
        identities: [...NETWORK.identities, ...identities],
        services: [...NETWORK.services, ...services],
      },
    })
    const { page } = await openPage(`${url}#/what-if?group=guests`, PHONE)
    await logIn(page)
    await pick(page, 'would be given', 'staff')
    const gained = page.locator('.count dd').filter({ hasText: '+1,280' })
    await gained.waitFor()
    const rects = `(() => {
      const range = document.createRange()
      range.selectNodeContents([...document.querySelectorAll('.count dd')].find((one) => one.textContent === '+1,280'))
      return range.getClientRects().length
    })()`
    expect(await page.evaluate<number>(rects)).toBe(1)
    const [phone] = (await net.admin.call('GET /identities', { query: { filter: 'name = "phone"' } })).data
    const body = { roleAttributes: ['staff'] }
    await net.admin.call('PATCH /identities/{id}', { params: { id: phone?.id ?? '' }, body })
    await page.evaluate('location.hash = "#/changes?of=access"')
    const change = page.getByRole('listitem').filter({ hasText: 'phone' }).first()
    const [one, other] = await Promise.all(
      ['who lost or gained access by it', 'undo…'].map((name) => change.getByRole('button', { name }).boundingBox()),
    )
    const isApart = (other?.y ?? 0) > (one?.y ?? 0) || (other?.x ?? 0) >= (one?.x ?? 0) + (one?.width ?? 0) + 8
    expect(isApart).toBe(true)
    expect(await tooWide(page)).toEqual([])
  }, 60_000)

  it('keeps each name of a trial and of a reach in one line', async () => {
    const [guest, policy, service] = ['phone-of-the-visitors', 'everything-that-is-confidential', 'database-in-berlin']
    const model = {
      identities: [...NETWORK.identities, { name: guest, type: 'Device' as const, isAdmin: false }],
      services: [...NETWORK.services, { name: service, roleAttributes: ['confidential'] }],
      servicePolicies: [
        { ...NETWORK.servicePolicies[1], name: policy, serviceRoles: ['#confidential'], identityRoles: ['#staff'] },
      ],
    }
    const { net, url } = await serveExplorer({ model })
    const idOf = async (name: string) =>
      (await net.admin.call('GET /identities')).data.find((one) => one.name === name)?.id
    const trial = `#/what-if?change=attributes&of=identities&id=${await idOf(guest)}&add=staff`
    const { page } = await openPage(`${url}${trial}`, PHONE)
    await logIn(page)
    const linesOf = (name: string) => {
      const link = `[...document.querySelectorAll('main table a')].find((one) => one.textContent === '${name}')`
      return page.evaluate<number>(`${link}.getClientRects().length`)
    }
    await page.locator('.pairs').getByRole('link', { name: service }).waitFor()
    expect(await Promise.all([guest, service].map(linesOf))).toEqual([1, 1])
    await page.evaluate(`location.hash = "#/identity?id=${await idOf('laptop')}"`)
    await page.getByRole('link', { name: policy }).first().waitFor()
    expect(await Promise.all([service, policy].map(linesOf))).toEqual([1, 1])
    expect(await tooWide(page)).toEqual([])
  }, 60_000)

  it('becomes a drawing when the window is wide enough, and a list again', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/graph`, PHONE)
    await logIn(page)
    await page.locator('.map-list').waitFor()
    await page.setViewportSize({ width: 1000, height: 700 })
    await page.locator('svg.map').waitFor()
    await page.setViewportSize(PHONE.viewport)
    await page.locator('.map-list').waitFor()
    expect(await page.locator('svg.map').count()).toBe(0)
  }, 60_000)
})
