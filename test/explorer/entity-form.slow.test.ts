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

  it('takes the times of a policy in the zone of the reader, which it names, and sends instants; an emptied field is none', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page, problems } = await openPage(`${url}#/json?kind=service-policies&new=true`, {
      timezoneId: 'Europe/Berlin',
    })
    await logIn(page)
    await page.getByLabel('Name', { exact: true }).fill('summer')
    expect(await page.getByLabel('Semantic', { exact: true }).inputValue()).toBe('AnyOf')
    await page.getByLabel('Type', { exact: true }).selectOption('Dial')
    const until = page.getByLabel('Until', { exact: true })
    const startsAt = page.getByLabel('Starts at', { exact: true })
    await startsAt.fill('2027-01-15T08:30')
    await page.getByText('GMT+1', { exact: true }).first().waitFor()
    await until.fill('2027-07-01T10:00')
    await page.getByText('GMT+2', { exact: true }).waitFor()
    // The request as JSON has the same instants, and what is written there stands in the form.
    await page.getByRole('link', { name: 'JSON', exact: true }).click()
    const json = page.getByLabel('The request as JSON')
    const asked = JSON.parse(await json.inputValue())
    expect(asked).toMatchObject({ startsAt: '2027-01-15T07:30:00.000Z', until: '2027-07-01T08:00:00.000Z' })
    await json.fill(JSON.stringify({ ...asked, until: '2027-07-01T12:00:30Z' }))
    await page.getByRole('link', { name: 'Form', exact: true }).click()
    expect(await until.inputValue()).toBe('2027-07-01T14:00:30')
    expect(await startsAt.inputValue()).toBe('2027-01-15T08:30')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'summer', exact: true }).waitFor()
    const policy = async () => {
      const { data } = await net.admin.call('GET /service-policies', { query: { filter: 'name = "summer"' } })
      return { startsAt: data[0]?.startsAt, until: data[0]?.until }
    }
    expect(await policy()).toEqual({ startsAt: '2027-01-15T07:30:00.000Z', until: '2027-07-01T12:00:30.000Z' })
    await page.getByRole('link', { name: 'Its page' }).click()
    await page.getByText(/^Dial · .* · coming from .*2027.* until .*2027/).waitFor()
    await page.getByRole('link', { name: 'All fields' }).click()
    await until.fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(policy).toEqual({ startsAt: '2027-01-15T07:30:00.000Z', until: undefined })
    // Rights of an identity end alike, and nothing else of it changes.
    const body = { name: 'auditor', type: 'User', isAdmin: true, roleAttributes: ['staff'], externalId: 'a-1' } as const
    const rightsUntil = '2099-01-01T00:00:00.000Z'
    const { id } = (await net.admin.call('POST /identities', { body: { ...body, rightsUntil } })).data
    const auditor = async () => (await net.admin.call('GET /identities/{id}', { params: { id } })).data
    const { updatedAt: _, rightsUntil: __, ...others } = await auditor()
    await page.evaluate(`location.hash = "#/json?kind=identities&id=${id}"`)
    await expect.poll(() => page.getByLabel('Rights until', { exact: true }).inputValue()).toBe('2099-01-01T01:00')
    await page.getByLabel('Rights until', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await auditor()).rightsUntil).toBe(undefined)
    expect(await auditor()).toMatchObject(others)
    expect(problems).toEqual([])
  }, 60_000)

  it('has one row of tabs: what is typed in the form stands in the JSON, and the page of the entity is one step away', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const [wiki] = (await net.admin.call('GET /services', { query: { filter: 'name = "wiki"' } })).data
    const { page } = await openPage(`${url}#/json?kind=services&id=${wiki?.id}`)
    await logIn(page)
    await page.getByLabel('Name', { exact: true }).fill('wiki-2')
    expect(await page.locator('.tabs').count()).toBe(1)
    expect(await page.locator('.tabs').getByRole('link').allTextContents()).toEqual(['Form', 'JSON'])
    await page.getByRole('link', { name: 'JSON', exact: true }).click()
    expect(JSON.parse(await page.getByLabel('The request as JSON').inputValue())).toMatchObject({ name: 'wiki-2' })
    expect(JSON.parse(await page.locator('.json-text').inputValue())).toMatchObject({ id: wiki?.id, name: 'wiki' })
    await page.goBack()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('wiki-2')
    await page.getByRole('link', { name: 'Its page' }).click()
    await page.getByRole('heading', { name: 'wiki', exact: true }).waitFor()
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

  it('is beside what an identity reported, in words, and a sentence where it reported nothing', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { id } = await net.enroll('laptop')
    const { page } = await openPage(`${url}#/identity?id=${id}`)
    await logIn(page)
    const part = page.getByRole('region', { name: 'Posture as reported' })
    await part.getByText('Nothing was reported: checks that ask for something fail.').waitFor()
    await net.posture('laptop').report({ domain: 'corp.example' })
    await part.getByText('corp.example').waitFor()
    expect(await part.innerText()).not.toMatch(/[{}"]|postureCheckId/)
  }, 60_000)
})
