import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('the page of changes', () => {
  afterAll(closeBrowser)

  it('takes a change back: shows the plan, and does it unless somebody was there before', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page, problems } = await openPage(url)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const { data } = await net.admin.call('GET /identities', { query: { filter: 'name = "laptop"' } })
    const params = { id: data[0]?.id ?? '' }
    const before = data[0]?.roleAttributes
    const attributes = async () => (await net.admin.call('GET /identities/{id}', { params })).data.roleAttributes
    await net.admin.call('PATCH /identities/{id}', { params, body: { roleAttributes: ['nobody'] } })

    await page.evaluate('location.hash = "#/changes"')
    // The list goes on with what others change meanwhile: the line stays the same.
    const undo = page.getByRole('button', { name: 'undo…' })
    const undoFirst = page.getByRole('listitem').filter({ hasText: '+ nobody' }).getByRole('button', { name: 'undo…' })
    await undoFirst.click()
    await page.getByText("identities 'laptop' would be changed back.").waitFor()
    await page.getByText(/accesses would change, posture aside/).waitFor()
    expect(await attributes()).toEqual(['nobody'])

    // Somebody else changes it while the plan is looked at.
    await net.admin.call('PATCH /identities/{id}', { params, body: { roleAttributes: ['nobody', 'later'] } })
    await page.getByRole('button', { name: 'Yes, take it back' }).click()
    await page
      .getByRole('alert')
      .getByText(/plan it again/)
      .waitFor()
    expect(await attributes()).toEqual(['later', 'nobody'])

    await undoFirst.click()
    await page.getByRole('button', { name: 'Yes, take it back' }).click()
    await expect.poll(attributes).toEqual([...(before ?? []), 'later'].sort())
    await expect.poll(() => undo.count()).toBeGreaterThan(2)
    await page.getByText('took a change back: changed identity laptop').waitFor()
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([])
  }, 90_000)

  it('has a line for each request, in words, with an undo only where it is possible', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const idOf = async (name: string) =>
      (await net.admin.call('GET /identities', { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
    const [laptop, phone] = [await idOf('laptop'), await idOf('phone')]
    await net.admin.call('POST /identities/{id}/disable', { params: { id: phone }, body: { durationMinutes: 0 } })
    await net.admin.call('DELETE /identities/{id}', { params: { id: laptop } })
    const { page, problems } = await openPage(`${url}#/changes?of=all`)
    await logIn(page)
    const lines = page.locator('.audit > li')
    // The enrollment went with the identity, in the same request.
    const deleted = lines.filter({ hasText: 'deleted identity laptop' })
    await deleted.getByRole('button', { name: 'with 1 enrollment' }).waitFor()
    expect(await deleted.count()).toBe(1)
    expect(await deleted.textContent()).toContain('Role attributes')
    await deleted.getByRole('button', { name: 'undo…' }).waitFor()
    const disabled = lines.filter({ hasText: 'changed identity phone' })
    expect(await disabled.textContent()).toContain('Disabled at')
    expect(await disabled.getByRole('button', { name: 'undo…' }).count()).toBe(0)
    expect(problems).toEqual([])
  }, 60_000)

  it('says since when access exists, and by whose change', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(url)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const idOf = async (kind: 'identities' | 'services', name: string) =>
      (await net.admin.call(`GET /${kind}`, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
    const [identity, service] = [await idOf('identities', 'phone'), await idOf('services', 'wiki')]
    const body = { roleAttributes: ['staff'] }
    await net.admin.call('PATCH /identities/{id}', { params: { id: identity }, body })
    await page.evaluate(`location.hash = "#/why?identity=${identity}&service=${service}"`)
    await page.getByText(/grants it since .*, when Default Admin changed identity phone/).waitFor()
  })
})
