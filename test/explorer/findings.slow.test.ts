import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

const DAY_MS = 86_400_000

describe.skipIf(!HAS_BROWSER)('findings in the explorer', () => {
  afterAll(closeBrowser)

  it('tells what an operator fears, how soon it is, and does something about it', async () => {
    const identities = [...NETWORK.identities, { name: 'lost', type: 'Device' as const, isAdmin: false }]
    const days = 340
    const { net, url } = await serveExplorer({
      now: Date.now() - days * DAY_MS,
      model: { ...NETWORK, identities },
      latestBackup: async () => new Date(Date.now() - 3 * DAY_MS),
    })
    const phone = await net.enroll('phone')
    await phone.call('GET /current-identity')
    await net.as('lost').call('GET /current-identity')
    await net.elapse(days * DAY_MS)
    await phone.call('GET /current-identity')
    // Only the policies of the laptop, which never came, and of the server.
    const unused = 3
    const { page, problems } = await openPage(url)
    await logIn(page)

    const found = page.getByRole('list', { name: 'Findings' })
    const card = (text: string) => found.getByRole('listitem').filter({ hasText: text })
    await card('1 identity certificate ends within 30 days')
      .getByText(/phone in 2\d days/)
      .waitFor()
    await card('1 invitation ran out')
      .getByText(/laptop \d+ days ago/)
      .waitFor()
    await card('services have no host').getByText('payroll').waitFor()

    await card(`${unused} policies were used by nobody for 30 days`).getByRole('link', { name: 'staff-wiki' }).waitFor()
    await card(`${unused} policies were used`).getByRole('link', { name: 'Change it…' }).waitFor()
    await card('1 backup is old or missing')
      .getByText(/the latest backup 3 days ago/)
      .waitFor()
    await card('1 backup is old').getByRole('button', { name: 'Make a snapshot' }).waitFor()

    // Who is not seen for long is kept out, after a question.
    const unseen = card('1 identity was not seen for 30 days')
    await unseen.getByText(/lost 3\d\d days ago/).waitFor()
    await unseen.getByRole('button', { name: 'Disable' }).click()
    await unseen.getByRole('button', { name: 'Yes' }).click()
    await unseen.waitFor({ state: 'detached' })
    const all = (await net.admin.call('GET /identities')).data
    expect(all.filter(({ disabled }) => disabled).map(({ name }) => name)).toEqual(['lost'])

    await card('1 identity certificate ends').getByRole('button', { name: 'Ask to renew' }).click()
    const asked = async () =>
      (await net.admin.call('GET /authenticators', { query: { filter: 'method = "cert"' } })).data.map(
        (one) => 'isExtendRequested' in one && one.isExtendRequested,
      )
    await expect.poll(asked, { timeout: 10_000 }).toEqual([true])

    // A card of many leads to them by the same act.
    await card('services have no host').getByRole('link', { name: 'Let a host bind it…' }).waitFor()
    // A list of many has an act for each; here the form of a policy that is filled in.
    await card('services have no host')
      .getByRole('link', { name: /services have no host/ })
      .click()
    await page.getByRole('heading', { name: '2 services have no host' }).waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: 'wiki' })
      .getByRole('link', { name: 'Let a host bind it' })
      .click()
    await page.getByRole('heading', { name: 'New service policy' }).waitFor()
    expect(await page.getByLabel('Name').inputValue()).toBe('hosts of wiki')
    expect(problems).toEqual([])
  }, 90_000)

  it('judges nothing on an empty network, and says where to begin', async () => {
    const { url } = await serveExplorer()
    const { page } = await openPage(url)
    await logIn(page)
    await page.getByRole('link', { name: 'Set the network up, step by step' }).waitFor()
    expect(await page.getByText('All well').count()).toBe(0)
    expect(await page.getByText('reaches nothing').count()).toBe(0)
  }, 60_000)
})
