import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { COLLECTIONS } from '../../adapters/tools/explorer/page/parts/words.ts'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

const MANY = Array.from({ length: 60 }, (_, n) => ({
  name: `device-${String(n).padStart(2, '0')}`,
  type: 'Device' as const,
  isAdmin: false,
  roleAttributes: ['staff', n % 2 === 0 ? 'even' : 'odd'],
}))

async function open(model: object = {}, who?: { username: string; password: string }) {
  const { net, url } = await serveExplorer({
    model: { ...NETWORK, identities: [...NETWORK.identities, ...MANY], ...model },
  })
  const { page, problems } = await openPage(url)
  await logIn(page, who)
  await page.locator('.findings').first().waitFor()
  return { net, page, problems, url }
}

async function show(page: Page, place: string) {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
  await page.locator('.list tbody tr').first().waitFor()
}

const namesIn = (page: Page) => page.locator('.list .cell-name').allTextContents()
const addressOf = (page: Page) => page.evaluate<string>('decodeURIComponent(location.hash).replaceAll("+", " ")')
const bulk = (page: Page) => page.getByRole('region', { name: 'Selected' })

describe.skipIf(!HAS_BROWSER)('the tables of the explorer', () => {
  afterAll(closeBrowser)

  it('are narrowed, sorted and given columns by the API, and the address keeps it', async () => {
    const { page, problems } = await open()
    await show(page, 'manage?kind=identities')
    const asked: string[] = []
    page.on('request', (request) => asked.push(decodeURIComponent(request.url()).replaceAll('+', ' ')))
    await page.getByRole('combobox', { name: 'Filter', exact: true }).fill('device -attr:odd')
    await page.keyboard.press('Enter')
    await page.getByText('30 identities').waitFor()
    expect(await addressOf(page)).toContain('filter=device -attr:odd')
    expect(
      asked.some((url) => url.includes('(name icontains "device") and (not (anyOf(roleAttributes) = "odd"))')),
    ).toBe(true)
    await page.getByLabel('Add a filter').selectOption('online:no')
    await page.getByRole('button', { name: 'Take the filter online:no away' }).waitFor()
    await page.getByRole('button', { name: 'Name' }).click()
    await expect.poll(async () => (await namesIn(page))[0]).toBe('device-58')
    expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('descending')
    await page.getByText('Columns', { exact: true }).first().click()
    await page.getByRole('checkbox', { name: 'SDK' }).check()
    await page.getByRole('columnheader', { name: 'SDK' }).waitFor()
    await page.reload()
    await expect.poll(async () => (await namesIn(page))[0]).toBe('device-58')
    await page.getByRole('columnheader', { name: 'SDK' }).waitFor()
    // An entity opens beside its table, which stays as it is.
    await page.getByRole('link', { name: 'device-58' }).click()
    await page.getByRole('complementary').getByRole('heading', { name: 'device-58' }).waitFor()
    await page.getByRole('link', { name: 'Close' }).click()
    expect(await addressOf(page)).toContain('filter=device -attr:odd online:no')
    await page.getByRole('button', { name: 'Take the filter device away' }).click()
    await page.getByText('30 identities').waitFor()
    await page.getByRole('combobox', { name: 'Filter', exact: true }).fill('onlin:no')
    await page.keyboard.press('Enter')
    await page.getByText("There is no filter 'onlin'").waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  it('have pages, for each kind, with what the kind has', async () => {
    const { page, problems } = await open()
    await show(page, 'manage?kind=identities')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('51–64 of 64').waitFor()
    expect(await addressOf(page)).toContain('offset=50')
    for (const kind of COLLECTIONS) {
      const look = async (more: string) => {
        await page.evaluate(`location.hash = ${JSON.stringify(`#/json?kind=${kind}&${more}`)}`)
        await page.locator('.found').waitFor()
        expect([kind, more, await page.locator('.problem').allTextContents()]).toEqual([kind, more, []])
      }
      const valuesOf = async (label: string) => {
        const values = await page
          .getByLabel(label)
          .locator('option')
          .evaluateAll('(all) => all.map((one) => one.value)')
        return Array.isArray(values) ? values.map(String).filter((one) => one !== '') : []
      }
      await look('')
      for (const filter of await valuesOf('Add a filter'))
        await look(`filter=${filter.endsWith(':') ? `${filter}x` : filter}`)
      await page.locator('.menu').evaluate('(menu) => { menu.open = true }')
      for (const sort of await valuesOf('Sort by')) await look(`sort=${sort} desc`)
    }
    expect(problems).toEqual([])
  }, 120_000)

  it('disable, enable and give role attributes to what is selected, and keep what others wrote', async () => {
    const { net, page } = await open()
    await show(page, 'manage?kind=identities&filter=attr:even')
    await page.getByLabel('Select device-00').check()
    await page.getByLabel('Select device-02').check()
    await bulk(page).getByRole('button', { name: 'Disable…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('device-00, device-02').waitFor()
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('No')
    await dialog.getByRole('button', { name: 'Yes, disable' }).click()
    await dialog.getByText('2 disabled.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => page.getByText('disabled', { exact: true }).count()).toBe(2)
    await show(page, 'manage?kind=identities&filter=disabled:yes')
    await expect.poll(() => namesIn(page)).toEqual(['device-00', 'device-02'])
    await page.getByLabel('Select this page').check()
    const of = (await net.admin.call('GET /identities', { query: { filter: 'name = "device-02"' } })).data[0]
    await net.admin.call('PATCH /identities/{id}', {
      params: { id: of?.id ?? '' },
      body: { roleAttributes: ['other'] },
    })
    await bulk(page).getByRole('button', { name: 'Add role attributes…' }).click()
    await dialog.getByRole('combobox').fill('wiki-readers')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Yes, add role attributes' }).click()
    await dialog.getByText('2 changed.').waitFor()
    const { data } = await net.admin.call('GET /identities', {
      query: { filter: 'anyOf(roleAttributes) = "wiki-readers"', sort: 'name' },
    })
    expect(data.map(({ roleAttributes }) => roleAttributes)).toEqual([
      ['even', 'staff', 'wiki-readers'],
      ['other', 'wiki-readers'],
    ])
  }, 60_000)

  it('set a tag of what is selected, replace it and take it away, and keep other tags', async () => {
    const { net, page, problems } = await open()
    const idOf = async (name: string) =>
      (await net.admin.call('GET /identities', { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
    const [first, second] = [await idOf('device-00'), await idOf('device-02')]
    const tagsOf = async (id: string) => (await net.admin.call('GET /identities/{id}', { params: { id } })).data.tags
    await net.admin.call('PATCH /identities/{id}', { params: { id: first }, body: { tags: { owner: 'hr', site: 7 } } })
    await show(page, 'manage?kind=identities&filter=device-0+attr:even&columns=owner')
    for (const name of ['device-00', 'device-02']) await page.getByLabel(`Select ${name}`).check()
    const dialog = page.getByRole('dialog')
    const run = async (label: string, done: string) => {
      await dialog.getByRole('button', { name: `Yes, ${label}` }).click()
      await dialog.getByText(done).waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
    }
    await bulk(page).getByRole('button', { name: 'Set a tag…' }).click()
    expect(await dialog.getByRole('button', { name: 'Yes, set a tag' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Tag').fill(' owner ')
    await dialog.getByLabel('Value').fill('it-operations')
    await run('set a tag', '2 changed.')
    expect([await tagsOf(first), await tagsOf(second)]).toEqual([
      { owner: 'it-operations', site: 7 },
      { owner: 'it-operations' },
    ])
    // The table follows, and forgets the selection of what was changed.
    await expect.poll(() => page.getByRole('cell', { name: 'it-operations' }).count()).toBe(2)
    expect(await bulk(page).count()).toBe(0)
    for (const name of ['device-00', 'device-04']) await page.getByLabel(`Select ${name}`).check()
    await net.admin.call('DELETE /identities/{id}', { params: { id: await idOf('device-04') } })
    await bulk(page).getByRole('button', { name: 'Take a tag away…' }).click()
    expect(await dialog.getByLabel('Value').count()).toBe(0)
    await dialog.getByLabel('Tag').fill('owner')
    await run('take a tag away', '1 changed, 1 refused.')
    expect([await tagsOf(first), await tagsOf(second)]).toEqual([{ site: 7 }, { owner: 'it-operations' }])
    await expect.poll(() => page.getByRole('cell', { name: 'it-operations' }).count()).toBe(1)
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
  }, 60_000)

  it('delete what is selected on all pages: say what is lost, name what was refused, and keep that selected', async () => {
    const { net, page } = await open()
    await show(page, 'manage?kind=identities')
    await page.getByLabel('Select this page').check()
    await bulk(page).getByRole('button', { name: 'Select all 64' }).click()
    await bulk(page).getByText('64 selected').waitFor()
    await bulk(page).getByRole('button', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Delete: 64 identities' }).waitFor()
    await dialog.getByText('and 60 more').waitFor()
    await dialog.getByText('You are among them.').waitFor()
    await dialog.getByText(/62 identities would lose 2 services/).waitFor()
    await dialog.getByRole('button', { name: 'Yes, delete' }).click()
    await dialog.getByText('63 deleted, 1 refused.').waitFor()
    expect(await dialog.getByRole('list', { name: 'Refused' }).textContent()).toMatch(/^Default Admin .+/)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await bulk(page).getByText('1 selected').waitFor()
    expect((await net.admin.call('GET /identities')).data.map(({ name }) => name)).toEqual(['Default Admin'])
  }, 60_000)

  it('may be stopped, leave the rest as it is, and go on with it', async () => {
    const { net, page } = await open()
    await show(page, 'manage?kind=identities&filter=attr:odd')
    await page.getByLabel('Select this page').check()
    let asked = 0
    let go = () => {}
    const gone = new Promise<void>((resolve) => {
      go = resolve
    })
    await page.route(/\/disable$/, async (route) => {
      asked += 1
      if (asked > 6) await gone
      await route.continue()
    })
    await bulk(page).getByRole('button', { name: 'Disable…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Yes, disable' }).click()
    await dialog.getByText(/^6 of 30/).waitFor()
    await dialog.getByRole('button', { name: 'Stop' }).click()
    go()
    await dialog.getByText(/^10 disabled, 20 not tried\. You stopped it\./).waitFor()
    const disabled = async () =>
      (await net.admin.call('GET /identities', { query: { filter: 'disabled = true', limit: 500 } })).data.length
    expect(await disabled()).toBe(10)
    await dialog.getByRole('button', { name: 'Try the other 20 again' }).click()
    await dialog.getByText('30 disabled.').waitFor()
    expect(await disabled()).toBe(30)
  }, 60_000)

  it('are saved as a file, with the columns that are shown, and without formulas', async () => {
    const name = '=HYPERLINK("https://evil.example")'
    const { page } = await open({ services: [...NETWORK.services, { name, roleAttributes: ['a', 'b'] }] })
    await show(page, 'manage?kind=services&columns=attributes')
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as CSV' }).click()
    const text = await readFile((await (await saved).path()) ?? '', 'utf8')
    expect(text.replaceAll(/^[^,\n]+,/gm, '')).toBe(
      `Name,Role attributes\r\n"'=HYPERLINK(""https://evil.example"")",#a #b\r\npayroll,#confidential\r\nwiki,#internal\r\n`,
    )
  }, 60_000)

  it('offer no action to who may do none', async () => {
    const { net, page, url } = await open()
    const { data } = await net.admin.call('POST /identities', {
      body: { name: 'reader', type: 'User', isAdmin: false, permissions: ['identity.read', 'service'] },
    })
    await net.admin.call('POST /authenticators', {
      body: { method: 'updb', identityId: data.id, username: 'reader', password: 'reader-password' },
    })
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.goto(url)
    await logIn(page, { username: 'reader', password: 'reader-password' })
    await page.locator('main h1').first().waitFor()
    const select = async (place: string, row: string) => {
      await show(page, place)
      // The table before is there until the next one has its rows.
      await page.getByRole('row').filter({ hasText: row }).first().waitFor()
      await page.getByLabel('Select this page').check()
      await page.getByRole('button', { name: 'Export selected as CSV' }).waitFor()
    }
    const actions = async () =>
      (await bulk(page).getByRole('button').allTextContents()).filter((text) => text.endsWith('…'))
    await select('manage?kind=services', 'payroll')
    await expect
      .poll(actions)
      .toEqual(['Add role attributes…', 'Take role attributes away…', 'Set a tag…', 'Take a tag away…', 'Delete…'])
    // The page knows by now what may be done with each kind.
    await select('manage?kind=identities', 'Default Admin')
    expect(await actions()).toEqual([])
  }, 60_000)
})
