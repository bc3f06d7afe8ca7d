import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'

const HOSTILE = [
  '<img src=x onerror=globalThis.harmed=1>',
  '"><script>globalThis.harmed=1</script>',
  '<svg onload=globalThis.harmed=1>',
  'javascript:globalThis.harmed=1',
  '{{constructor.constructor("globalThis.harmed=1")()}}',
]

describe.skipIf(!HAS_BROWSER)('the explorer over a network of hostile names', () => {
  afterAll(closeBrowser)

  it('shows names, tags and role attributes as text in every view, and nothing of them runs', async () => {
    const identities = HOSTILE.map((name) => ({
      name,
      type: 'Device' as const,
      isAdmin: false,
      roleAttributes: HOSTILE,
      tags: { [name]: name },
    }))
    const services = HOSTILE.map((name) => ({ name, roleAttributes: HOSTILE, tags: { [name]: name } }))
    const policies = HOSTILE.map((name) => ({
      name,
      type: 'Dial' as const,
      semantic: 'AnyOf' as const,
      identityRoles: ['#all'],
      serviceRoles: ['#all'],
    }))
    const { net, url } = await serveExplorer({ model: { identities, services, servicePolicies: policies } })
    const { page, problems } = await openPage(url)
    await page.evaluate(
      'globalThis.violations = []; addEventListener("securitypolicyviolation", ({ blockedURI }) => violations.push(blockedURI))',
    )
    await logIn(page)
    const [identity] = (await net.admin.call('GET /identities', { query: { filter: 'isAdmin = false' } })).data
    const [service] = (await net.admin.call('GET /services')).data
    const look = async (hash: string, text: string) => {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.getByText(text).first().waitFor()
      await page.waitForTimeout(200)
    }
    const about = `identity=${identity?.id}&service=${service?.id}`
    await look('#/start', '<img')
    for (const form of [
      'as=lines',
      'as=policies',
      'as=matrix',
      `identitiesBy=${encodeURIComponent(HOSTILE[0] ?? '')}`,
    ]) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/graph?${form}`)}`)
      await page.locator('.map-frame [data-key]', { hasText: '<img' }).first().waitFor()
      await page.waitForTimeout(200)
    }
    await page.locator('[data-key]').first().click()
    await page.locator('.members a', { hasText: '<img' }).waitFor()
    await look(`#/identity?id=${identity?.id}`, '<img')
    await look(`#/service?id=${service?.id}`, '<img')
    await look(`#/attribute?kind=identities&of=${encodeURIComponent(HOSTILE[0] ?? '')}`, '<img')
    await page.evaluate('location.hash = "#/changes"')
    await page
      .getByRole('button', { name: /^(each of them|with )/ })
      .first()
      .click()
    await look('#/changes', '<img')
    await look(`#/why?${about}`, 'may dial')
    await look(`#/what-if?change=edit&of=identities&id=${identity?.id}&${about}`, 'Identity')
    await page.getByRole('button', { name: 'As model file' }).click()
    await page.getByRole('textbox', { name: 'Text to copy' }).waitFor()
    await look('#/live', 'Live')
    for (const kind of ['identities', 'services', 'service-policies']) await look(`#/manage?kind=${kind}`, '<img')
    await look(`#/manage?kind=identities&id=${identity?.id}`, 'Enrollment')
    await look('#/json?kind=services', '<img')
    await look(`#/json?kind=identities&id=${identity?.id}&as=json`, 'Copy')
    // The text of the address is text as well.
    await look('#/json?kind=<img src=x onerror=globalThis.harmed=1>&id=<script>', 'All kinds')
    expect(await page.evaluate('globalThis.harmed')).toBeUndefined()
    expect(await page.evaluate('globalThis.violations')).toEqual([])
    expect(problems).toEqual([])
  }, 90_000)

  it('shows a value that is called like a member of every object', async () => {
    const identities = [{ name: 'laptop', type: 'Device' as const, isAdmin: false }]
    const { net, url } = await serveExplorer({ model: { identities } })
    const [identity] = (await net.admin.call('GET /identities', { query: { filter: 'isAdmin = false' } })).data
    const body = { externalId: 'constructor', tags: { toString: 'valueOf' } }
    await net.admin.call('PATCH /identities/{id}', { params: { id: identity?.id ?? '' }, body })
    const { page, problems } = await openPage(url)
    await logIn(page)
    await page.getByRole('link', { name: 'Changes' }).click()
    await page.getByText('constructor').waitFor()
    await page.getByText('to string valueOf').waitFor()
    await page.evaluate('location.hash = "#/attribute?kind=constructor&of=staff"')
    await page.getByText('staff').first().waitFor()
    await page.evaluate('location.hash = "#/start"')
    await page.getByText('Recently').or(page.getByText('In the last hour')).first().waitFor()
    expect(problems).toEqual([])
  })
})
