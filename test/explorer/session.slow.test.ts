import type { Page } from 'playwright-core'
import { createTestController } from 'portcullis/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { plainlyServed } from '../support/plainly-served.ts'
import { HAS_WEBKIT, openInWebKit } from '../support/webkit.ts'
import { NETWORK } from './network.ts'

const isIn = (page: Page) => page.getByRole('button', { name: 'Log out' }).waitFor()
const isOut = (page: Page) => page.getByLabel('Username').waitFor()

/** Opens another tab of the same browser. */
async function anotherTab(page: Page, url: string): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(url)
  return tab
}

describe.skipIf(!HAS_BROWSER)('a session of the explorer', () => {
  afterAll(closeBrowser)

  it('outlives a reload with the place and the draft, holds in other tabs, and ends in all of them', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page, problems } = await openPage(`${url}#/what-if?change=empty-policy`)
    await logIn(page)
    await page.getByRole('heading', { name: 'New service policy' }).waitFor()
    await page.reload()
    await isIn(page)
    await page.getByRole('heading', { name: 'New service policy' }).waitFor()
    const tab = await anotherTab(page, `${url}#/changes`)
    await isIn(tab)
    await tab.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('You logged out in another tab.').waitFor()
    await page.reload()
    await isOut(page)
    // Who logs in next does not see what somebody else had begun.
    await logIn(page)
    await isIn(page)
    await isIn(tab)
    expect(await page.getByRole('heading', { name: 'New service policy' }).count()).toBe(0)
    expect(problems).toEqual([])
  }, 60_000)

  it('outlives a reload while the controller is away, or has too much to do', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/changes`)
    await logIn(page)
    await isIn(page)
    let left = 2
    await page.route('**/current-identity', (route) => {
      left -= 1
      if (left < 0) return route.continue()
      return left === 1 ? route.abort() : route.fulfill({ status: 503, json: { error: { code: 'UNAVAILABLE' } } })
    })
    await page.reload()
    await page.getByText('The controller was not reached. Trying again').waitFor()
    await isIn(page)
    expect(page.url()).toContain('#/changes')
  }, 60_000)

  it('has the draft in the address, so that somebody else opens it as the network is then', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const laptop = (await net.admin.call('GET /identities')).data.find(({ name }) => name === 'laptop')?.id ?? ''
    const { page } = await openPage(`${url}#/what-if?change=edit&of=identities&id=${laptop}`)
    await logIn(page)
    await page.getByRole('combobox', { name: 'Role attributes' }).fill('hosts')
    await page.getByRole('option', { name: '#hosts' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url(), { timeout: 10_000 }).toMatch(/draft=.*hosts/)
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
    const link = page.url()
    // Another browser, where nobody began anything; meanwhile somebody gives the identity a role attribute.
    const params = { id: laptop }
    await net.admin.call('PATCH /identities/{id}', { params, body: { roleAttributes: ['staff', 'audited'] } })
    const other = await openPage(link)
    await logIn(other.page)
    await other.page.getByRole('heading', { name: 'Identity laptop' }).waitFor()
    for (const name of ['#hosts', '#staff', '#audited']) {
      await other.page.getByRole('list', { name: 'Role attributes' }).getByText(name).waitFor()
    }
    await other.page.getByRole('row', { name: /\+ Bind.*laptop.*payroll/ }).waitFor()
    expect(other.page.url()).toBe(link)
    await other.page.evaluate(`location.hash = ${JSON.stringify('#/what-if?draft=[{"kind":"nonsense"}]')}`)
    await other.page.getByText('The draft in the address cannot be opened').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await isOut(page)
    expect(page.url()).not.toContain('draft')
  }, 60_000)

  it('is not to be had by a page of another origin, and by no request that such a page makes', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(url)
    await logIn(page)
    await isIn(page)
    expect(await page.context().cookies()).toEqual([])
    expect(await page.evaluate('localStorage.length')).toBe(0)
    const foreign = await anotherTab(page, url.replace('localhost', '127.0.0.1'))
    await isOut(foreign)
    expect(await foreign.evaluate('sessionStorage.length')).toBe(0)
    const heard = foreign.evaluate<number>(`new Promise((resolve) => {
      let count = 0
      const channel = new BroadcastChannel(${JSON.stringify(`portcullis-explorer ${new URL('../..', url).pathname}`)})
      channel.onmessage = () => { count += 1 }
      channel.postMessage({ says: 'who' })
      setTimeout(() => resolve(count), 500)
    })`)
    expect(await heard).toBe(0)
  }, 60_000)

  it('asks for the login again when the controller has ended it', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(url)
    await logIn(page)
    await isIn(page)
    const filter = 'limit 500'
    for (const { id } of (await net.admin.call('GET /api-sessions', { query: { filter } })).data) {
      await net.admin.call('DELETE /api-sessions/{id}', { params: { id } }).catch(() => undefined)
    }
    await page.reload()
    await isOut(page)
  }, 60_000)

  it('shows who may only read no button that the controller would refuse', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const permissions = ['admin_readonly' as const]
    const body = { name: 'reader', type: 'User' as const, isAdmin: false, permissions }
    const { id } = (await net.admin.call('POST /identities', { body })).data
    const login = { username: 'reader', password: 'reader-password' }
    await net.admin.call('POST /authenticators', { body: { identityId: id, method: 'updb', ...login } })
    const { page, problems } = await openPage(`${url}#/manage`)
    await logIn(page, login)
    await page.getByText('read-only', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'phone', exact: true }).click()
    await page.getByRole('link', { name: 'Its page' }).waitFor()
    await page.getByRole('complementary').getByText('offline').waitFor()
    for (const name of ['Delete', 'Disable', 'Invite', 'Invite anew', 'Reset second factor']) {
      expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0])
    }
    expect(await page.getByRole('link', { name: /^New / }).count()).toBe(0)
    await page.evaluate('location.hash = "#/what-if?change=empty-policy"')
    await page.getByText('You may try this, and not write it.').waitFor()
    expect(await page.getByRole('button', { name: 'Apply…' }).count()).toBe(0)
    // Everything else is answered: nothing is asked for that may not be read.
    for (const hash of ['#/start', '#/live', '#/changes', '#/graph', `#/identity?id=${id}`]) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      await page.waitForTimeout(800)
      expect([hash, await page.locator('.problem:visible').allTextContents()]).toEqual([hash, []])
    }
    expect(problems).toEqual([])
  }, 60_000)

  it('writes numbers and times as whoever looks is used to', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    await net.admin.call('POST /services', { body: { name: 'neu' } })
    const { page } = await openPage(`${url}#/changes`, { locale: 'de-DE', timezoneId: 'Asia/Tokyo' })
    await logIn(page)
    const time = page.locator('.audit time').first()
    expect(await time.textContent()).toMatch(/^\d\d:\d\d:\d\d$/)
    expect(await time.getAttribute('title')).toMatch(/^\p{L}+, \d+\. \p{L}+ \d{4} .*(GMT\+9|OEZ|JST)/u)
    await page.getByText(/Times are GMT\+9/).waitFor()
  }, 60_000)
})

describe.skipIf(!HAS_WEBKIT)('a session in the engine of Safari', () => {
  it('outlives a reload', async () => {
    const net = await createTestController({ clock: 'live', model: NETWORK })
    onTestFinished(() => net.close())
    const page = await openInWebKit(await plainlyServed(net))
    await page.type('input[name=username]', 'admin')
    await page.type('input[name=password]', `admin-password\ue007`)
    const text = () => page.run('return document.body.innerText')
    await expect.poll(text, { timeout: 20_000 }).toContain('Log out')
    // The driver answers before the page goes.
    await page.run('window.isBefore = true; setTimeout(() => location.reload(), 50)')
    await expect.poll(() => page.run('return window.isBefore === undefined'), { timeout: 20_000 }).toBe(true)
    await expect.poll(text, { timeout: 20_000 }).toContain('Log out')
  }, 90_000)
})
