import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('the changes of a network', () => {
  afterAll(closeBrowser)

  it('are summed up, and shown of one actor, one kind or one entity', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { data } = await net.admin.call('GET /identities', { query: { filter: 'name contains "o"' } })
    for (const { id, name } of data.filter(({ isAdmin }) => !isAdmin)) {
      await net.admin.call('PATCH /identities/{id}', { params: { id }, body: { roleAttributes: [`of-${name}`] } })
    }
    const { id } = (await net.admin.call('GET /services', { query: { filter: 'name = "wiki"' } })).data[0] ?? { id: '' }
    await net.admin.call('DELETE /services/{id}', { params: { id } })
    const { page, problems } = await openPage(`${url}#/changes`)
    await logIn(page)
    const sum = page.locator('.summary')
    await expect
      .poll(() => sum.textContent())
      .toMatch(
        /^1 person changed 2 identities and 1 service policy, deleted 1 service; 1 identity lost access to something/,
      )
    await page.getByLabel('Kind').selectOption('services')
    await expect.poll(() => sum.textContent()).toMatch(/^1 person deleted 1 service;? ?/)
    expect(await page.locator('.audit').textContent()).not.toContain('identity')
    await page.getByRole('link', { name: 'Everything' }).click()
    await pick(page, 'Entity', 'phone')
    await expect.poll(() => sum.textContent()).toMatch(/^1 person changed 1 identity/)
    await page.getByRole('link', { name: 'Everything' }).click()
    await pick(page, 'Changed by', 'laptop')
    await page.getByText('Nothing was changed in that time.').waitFor()
    expect(problems).toEqual([])
  }, 60_000)
})
