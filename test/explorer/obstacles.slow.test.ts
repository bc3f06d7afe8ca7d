import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('obstacles between an identity and a service', () => {
  afterAll(closeBrowser)

  it('are all named by Why, in order, each with a form or a trial', async () => {
    const { net, url } = await serveExplorer({
      model: { ...NETWORK, servicePolicies: NETWORK.servicePolicies.slice(0, 1) },
    })
    for (const kind of ['edge-router-policies', 'service-edge-router-policies'] as const) {
      for (const { id } of (await net.admin.call(`GET /${kind}`)).data) {
        await net.admin.call(`DELETE /${kind}/{id}`, { params: { id } })
      }
    }
    const idOf = async (kind: 'identities' | 'services', name: string) =>
      (await net.admin.call(`GET /${kind}`, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
    const about = `identity=${await idOf('identities', 'laptop')}&service=${await idOf('services', 'payroll')}`
    const { page, problems } = await openPage(`${url}#/why?${about}`)
    await logIn(page)
    const steps = page.locator('.suggestions li')
    await page.getByRole('heading', { name: 'What is missing: 4 steps' }).waitFor()
    expect(await steps.allTextContents()).toEqual([
      expect.stringMatching(/^1\..*posture check 'company-domain'.*Try it/),
      expect.stringMatching(/^2\.Let an edge router policy select 'laptop'. Fill in the form/),
      expect.stringMatching(/^3\.Let a service edge router policy select 'payroll'. Fill in the form/),
      expect.stringMatching(/^4\.Create a Bind service policy that selects 'payroll'.*Fill in the form/),
    ])
    // The form is filled in, and what it makes takes the obstacle away.
    await steps.nth(1).getByRole('link', { name: 'Fill in the form' }).click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('edge routers of laptop')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Its page' }).waitFor()
    await page.evaluate(`location.hash = "#/why?${about}"`)
    await page.getByRole('heading', { name: 'What is missing: 3 steps' }).waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  it('are told in sentences whose names lead to their pages, with instants in the words of the reader', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const [laptop] = (await net.admin.call('GET /identities', { query: { filter: 'name = "laptop"' } })).data
    const [wiki] = (await net.admin.call('GET /services', { query: { filter: 'name = "wiki"' } })).data
    const { page } = await openPage(url)
    await logIn(page)
    await page.locator('.findings a').first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').slice(-2).join('/')))
    await page.evaluate(`location.hash = "#/why?identity=${laptop?.id}&service=${wiki?.id}"`)
    const words = page.locator('.sentences')
    await words.getByRole('link', { name: 'staff-wiki' }).first().waitFor()
    await words.getByRole('link', { name: 'laptop' }).first().waitFor()
    expect(await words.textContent()).not.toMatch(/\d{4}-\d\d-\d\dT/)
    await expect.poll(() => page.getByRole('combobox', { name: 'Identity' }).inputValue()).toBe('laptop')
    // The explanation names both, and several suggestions are about one entity.
    expect(asked.filter((path) => path.startsWith('services/')).length).toBeLessThanOrEqual(1)
    expect(asked.filter((path) => path.startsWith('identities/')).length).toBeLessThanOrEqual(1)
  }, 60_000)

  it('are said of what a change would give: devices and services, with what would connect', async () => {
    const identities = Array.from({ length: 9 }, (_, n) => ({
      name: `tablet-${n}`,
      type: 'Device' as const,
      isAdmin: false,
      roleAttributes: ['tablets'],
    }))
    const { url } = await serveExplorer({ model: { ...NETWORK, identities: [...NETWORK.identities, ...identities] } })
    const { page, problems } = await openPage(`${url}#/what-if?change=empty-policy`)
    await logIn(page)
    await pick(page, 'Identity roles', '#tablets')
    await pick(page, 'Service roles', '#internal')
    await pick(page, 'Service roles', '#confidential')
    await page.getByText('9 identities, 2 services; of what is gained 18 with all edge routers offline.').waitFor()
    expect(await page.locator('.count-warn').textContent()).toContain('+18')
    // One row: every one of them gains both.
    const row = page.getByRole('row', { name: /Dial/ })
    expect(await row.textContent()).toMatch(
      /tablet-0, tablet-1, tablet-2, tablet-3 and 5 more(payroll, wiki|wiki, payroll)why now/,
    )
    await row.getByRole('button', { name: 'and 5 more' }).click()
    await row.getByRole('link', { name: 'tablet-8' }).waitFor()
    expect(problems).toEqual([])
  }, 60_000)
})
