import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('the form of an entity', () => {
  afterAll(closeBrowser)

  it('holds the type that the identity has, below its name', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const server = (await net.admin.call('GET /identities')).data.find(({ name }) => name === 'server')
    const { page } = await openPage(`${url}#/json?kind=identities&id=${server?.id}`)
    await logIn(page)
    await page.getByRole('heading', { name: 'server', exact: true }).waitFor()
    expect(await page.getByLabel('Type', { exact: true }).inputValue()).toBe('Service')
    expect(await page.getByLabel('Auth policy', { exact: true }).inputValue()).toBe('default')
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  }, 60_000)

  it('writes invisible characters of a name out, and so do fields that find names', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const body = { name: 'a\u202Eevil', type: 'Device' as const, isAdmin: false }
    const { id } = (await net.admin.call('POST /identities', { body })).data
    const { page } = await openPage(`${url}#/json?kind=identities&id=${id}`)
    await logIn(page)
    await page.getByText('With its invisible characters written out: a\\u202eevil').waitFor()
    // The field itself keeps the name, which is saved as it is.
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(body.name)
    await page.evaluate(`location.hash = "#/why?identity=${id}"`)
    await expect.poll(() => page.getByRole('combobox', { name: 'Identity' }).inputValue()).toBe('a\\u202eevil')
  }, 60_000)

  it('shows the conditions of a posture check in words', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const [check] = (await net.admin.call('GET /posture-checks')).data
    const { page } = await openPage(`${url}#/check?id=${check?.id}`)
    await logIn(page)
    const part = page.getByRole('region', { name: 'Asks for' })
    await part.waitFor()
    expect(await part.innerText()).toMatch(/Domains\s+corp\.example$/)
  }, 60_000)
})
