import { memoryStorage } from 'portcullis/memory'
import { createTestController } from 'portcullis/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  closeBrowser,
  HAS_BROWSER,
  logIn,
  openPage,
  serveExplorer,
  serveExplorerOf,
  serveTraffic,
} from '../support/explorer.ts'
import { freePort } from '../support/free-port.ts'

const MODEL = {
  identities: [
    { name: 'anna', type: 'Device', isAdmin: false, roleAttributes: ['staff'] },
    { name: 'ben', type: 'Device', isAdmin: false, roleAttributes: ['staff'] },
    { name: 'host', type: 'Service', isAdmin: false },
  ],
  services: [{ name: 'wiki', roleAttributes: ['internal'] }],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['#all'] },
    { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@host'], serviceRoles: ['#all'] },
  ],
} as const

/** A busy machine takes its time. */
const PATIENT = { timeout: 20_000 }

/** Connections that are cut say so; nobody listens here. */
const QUIET = () => undefined

describe.skipIf(!HAS_BROWSER)('Live as a state', () => {
  afterAll(closeBrowser)

  it('draws who talks to whom now and lists it, and cuts a circuit', async () => {
    const { net, url } = await serveTraffic(MODEL)
    const connection = await net.as('anna').dial('wiki')
    const isCut = new Promise((resolve) => connection.on('error', resolve).on('close', resolve))
    const { page, problems } = await openPage(`${url}#/live`)
    await logIn(page)

    const drawing = page.getByRole('region', { name: 'Who talks to whom' })
    for (const name of ['anna 1', 'router 1', 'wiki 1']) await drawing.getByRole('link', { name }).waitFor()
    const circuits = page.getByRole('region', { name: 'Circuits now: 1' })
    await circuits.getByRole('row', { name: /anna wiki at host router/ }).waitFor()

    // Somebody else begins, and nobody has to ask for it.
    ;(await net.as('ben').dial('wiki')).on('error', QUIET)
    await drawing.getByRole('link', { name: 'ben 1' }).waitFor()
    const both = page.getByRole('region', { name: 'Circuits now: 2' })
    const row = both.getByRole('row', { name: /anna/ })
    await row.getByRole('button', { name: 'Cut' }).click()
    await row.getByRole('button', { name: 'Yes' }).click()
    await isCut
    await page.getByRole('region', { name: 'Circuits now: 1' }).getByRole('link', { name: 'ben' }).waitFor()
    await expect.poll(() => drawing.getByRole('link', { name: /^anna/ }).count(), PATIENT).toBe(0)

    await drawing.getByRole('link', { name: 'wiki 1' }).click()
    await page.getByRole('heading', { name: 'wiki' }).waitFor()
    await page.getByRole('region', { name: 'Circuits now: 1' }).getByRole('link', { name: 'ben' }).waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  it('shows at once that a router is offline', async () => {
    const port = await freePort()
    const net = await createTestController({ clock: 'live', model: MODEL })
    onTestFinished(() => net.close())
    const running = await net.listen({ fabric: true, router: true })
    const { url } = await serveExplorerOf(net, port)
    const { page } = await openPage(`${url}#/live`)
    await logIn(page)
    const now = page.getByLabel('Now', { exact: true })
    await expect.poll(() => now.textContent(), PATIENT).toMatch(/1 of \d/)
    await running.close()
    await expect.poll(() => now.textContent(), PATIENT).toMatch(/0 of \d/)
    await page.getByRole('region', { name: 'Routers' }).getByText('offline').first().waitFor()
  }, 60_000)

  it('names what was deleted, and calls a router that never enrolled not enrolled', async () => {
    const { net, url } = await serveExplorer({ model: MODEL })
    const router = await net.admin.call('POST /edge-routers', { body: { name: 'er-new' } })
    const { data } = await net.admin.call('POST /services', { body: { name: 'short-lived' } })
    await net.admin.call('DELETE /services/{id}', { params: { id: data.id } })
    const { page } = await openPage(`${url}#/live`)
    await logIn(page)
    const events = page.getByRole('list', { name: 'Events, the newest first' })
    await events.getByText(/deleted service short-lived/).waitFor()
    expect(await events.textContent()).not.toContain(data.id)
    await page.getByRole('row', { name: /er-new not enrolled/ }).waitFor()
    expect(await page.getByText('offline').count()).toBe(0)
    await page.evaluate(`location.hash = "#/router?id=${router.data.id}"`)
    await page.locator('.entity-head').getByText('not enrolled').waitFor()
  }, 60_000)

  it('says of a change what became of what, and joins what repeats into one line that opens', async () => {
    const { net, url } = await serveExplorer({ model: MODEL })
    const { page } = await openPage(`${url}#/live`)
    await logIn(page)
    await expect.poll(() => page.locator('.live-state').textContent(), PATIENT).toContain('as it happens')
    const [wiki] = (await net.admin.call('GET /services')).data
    const params = { id: wiki?.id ?? '' }
    for (const attribute of ['first', 'second', 'third']) {
      await page.waitForTimeout(20)
      await net.admin.call('PATCH /services/{id}', { params, body: { roleAttributes: [attribute] } })
    }
    const line = page.locator('.event', { hasText: 'changed service wiki' })
    await line.getByRole('button', { name: 'and 2 more like it' }).waitFor()
    await expect.poll(() => line.first().textContent(), PATIENT).toMatch(/Role attributes− second \+ third/)
    expect(await line.count()).toBe(1)
    await line.first().getByRole('link', { name: 'wiki' }).waitFor()
    await line.getByRole('button', { name: 'and 2 more like it' }).click()
    await expect.poll(() => line.nth(2).textContent(), PATIENT).toMatch(/− internal \+ first/)
  }, 60_000)

  it('keeps all else in sight while one thing changes by the hundred', async () => {
    const { net, url } = await serveExplorer({ model: MODEL })
    await net.admin.call('POST /services', { body: { name: 'made-before-the-burst' } })
    const { page } = await openPage(`${url}#/live`)
    await logIn(page)
    await page.getByText('made-before-the-burst').first().waitFor()
    const [anna] = (await net.admin.call('GET /identities', { query: { filter: 'name = "anna"' } })).data
    const params = { id: anna?.id ?? '' }
    for (let number = 0; number < 150; number += 1) {
      await net.admin.call('PATCH /identities/{id}', { params, body: { appData: { number: String(number) } } })
    }
    await page.getByRole('button', { name: 'and 149 more like it' }).waitFor()
    expect(await page.getByText('made-before-the-burst').first().isVisible()).toBe(true)
  }, 60_000)

  it('tells what happened before a restart, by the audit trail', async () => {
    // Closing a controller closes its storage.
    const storage = { ...memoryStorage(), close: async () => undefined }
    const before = await createTestController({ clock: 'live', storage, model: MODEL })
    await before.admin.call('POST /services', { body: { name: 'made-before-the-restart' } })
    await before.close()
    const port = await freePort()
    const net = await createTestController({ clock: 'live', storage, address: `localhost:${port}` })
    onTestFinished(() => net.close())
    const { url } = await serveExplorerOf(net, port)
    const { page } = await openPage(`${url}#/live`)
    await logIn(page)
    await page.getByRole('button', { name: 'Read the audit trail' }).click()
    const earlier = page.getByRole('region', { name: 'Before that' })
    await earlier.getByRole('link', { name: 'made-before-the-restart' }).waitFor()
  }, 60_000)
})
