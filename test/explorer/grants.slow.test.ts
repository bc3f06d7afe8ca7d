import { SYSTEM_CALL } from 'portcullis'
import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('the page of an identity', () => {
  afterAll(closeBrowser)

  it('gives it a role attribute for some hours, shows until when, by whom and why, and ends it', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { items } = await net.engine.identities.list(SYSTEM_CALL, { filter: 'name = "phone"' })
    const id = items[0]?.id ?? ''
    const { page, problems } = await openPage(`${url}#/identity?id=${id}`)
    await logIn(page)
    const card = page.getByRole('region', { name: 'Role attributes for some time' })
    await card.getByText('None.').waitFor()
    await card.getByLabel('Role attribute').fill('auditors')
    await card.getByLabel('Hours').fill('3')
    await card.getByLabel('Reason').fill('INC-7')
    await card.getByRole('button', { name: 'Give for these hours' }).click()
    const line = card.getByRole('listitem').filter({ hasText: 'auditors' })
    await line.waitFor()
    expect(await line.textContent()).toMatch(/until .*, given by Default Admin, because: INC-7/)
    expect((await net.engine.identities.get(SYSTEM_CALL, id)).attributeGrants).toMatchObject([
      { attribute: 'auditors' },
    ])
    // The form says why the controller refuses, and keeps the typed text.
    await card.getByLabel('Role attribute').fill('#auditors')
    await card.getByRole('button', { name: 'Give for these hours' }).click()
    await card.getByRole('alert').waitFor()
    expect(await card.getByLabel('Role attribute').inputValue()).toBe('#auditors')
    await line.getByRole('button', { name: 'End now' }).click()
    await line.getByRole('button', { name: 'Yes' }).click()
    await line.waitFor({ state: 'detached' })
    expect((await net.engine.identities.get(SYSTEM_CALL, id)).attributeGrants ?? []).toEqual([])
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([])
  }, 90_000)
})
