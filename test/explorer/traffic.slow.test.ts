import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer, serveTraffic } from '../support/explorer.ts'

const MODEL = {
  identities: [
    { name: 'anna', type: 'Device', isAdmin: false },
    { name: 'host', type: 'Service', isAdmin: false },
  ],
  services: [{ name: 'wiki' }],
  servicePolicies: [
    { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['@anna'], serviceRoles: ['#all'] },
    { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@host'], serviceRoles: ['#all'] },
  ],
} as const

/** Routers and links as a network of several routers has them; the numbers of one that has none are told by the test of the API. */
const LINKED = {
  routers: ['berlin', 'oslo', 'rome', 'wien'].map((name, place) => ({
    ...{ id: name, name, kind: 'edge-routers', isOnline: place < 2, isEnrolled: place < 3 },
    ...{ circuits: Math.max(0, 2 - place), bytesPerSecond: 1_250_000 },
  })),
  links: [
    ['berlin', 'oslo', 12.34, false],
    ['oslo', 'rome', null, true],
  ].map(([source, target, latencyMs, isDown]) => ({
    ...{ id: `${source} ${target}`, source: { id: source, name: source }, target: { id: target, name: target } },
    ...{ latencyMs, isDown, circuits: 1, bytesPerSecond: 1_250_000 },
  })),
}

describe.skipIf(!HAS_BROWSER)('traffic with numbers', () => {
  afterAll(closeBrowser)

  it('shows bytes, rate and history of a circuit, for who dials and for who hosts', async () => {
    const { net, url } = await serveTraffic(MODEL)
    const connection = await net.as('anna').dial('wiki')
    connection.on('error', () => undefined).write(Buffer.alloc(60_000))
    const { page, problems } = await openPage(`${url}#/live`)
    await logIn(page)
    await net.elapse(16_000)
    const row = page.getByRole('row', { name: /anna wiki at host router .* 60 kB/ })
    await row.waitFor({ timeout: 40_000 })
    await row.getByRole('img', { name: 'Bytes a minute in the last half hour' }).waitFor()
    expect(await page.getByLabel('Now', { exact: true }).textContent()).toMatch(/kB\/s/)
    for (const name of ['host', 'anna']) {
      const [identity] = (await net.admin.call('GET /identities', { query: { filter: `name = "${name}"` } })).data
      await page.evaluate(`location.hash = ${JSON.stringify(`#/identity?id=${identity?.id}`)}`)
      await page.getByRole('heading', { name, exact: true }).waitFor()
      await page.getByRole('region', { name: 'Circuits now: 1' }).getByRole('row', { name: /60 kB/ }).waitFor()
    }
    expect(problems).toEqual([])
  }, 90_000)

  it('has the numbers of a circuit below each other on a phone, and no name of one letter a line', async () => {
    const { net, url } = await serveTraffic(MODEL)
    const connection = await net.as('anna').dial('wiki')
    connection.on('error', () => undefined).write(Buffer.alloc(60_000))
    const { page } = await openPage(`${url}#/live`, { viewport: { width: 390, height: 844 } })
    await logIn(page)
    const circuits = page.getByRole('region', { name: 'Circuits now: 1' })
    await circuits.getByRole('link', { name: 'anna' }).waitFor()
    const heights = await circuits
      .locator('td a')
      .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().height))
    expect(Math.max(...heights)).toBeLessThan(25)
    const scrolls = circuits.locator('.loaded').evaluate((frame) => frame.scrollWidth > frame.clientWidth)
    expect(await scrolls).toBe(false)
  }, 90_000)

  it('draws routers with their links, and says the same in a table', async () => {
    const { url } = await serveExplorer({ model: MODEL })
    const { page, problems } = await openPage(`${url}#/live`)
    await page.route('**/portcullis/v1/traffic?*', async (route) => {
      const response = await route.fetch()
      const { data, ...rest } = await response.json()
      const counts = { ...data.counts, routers: 3, routersOnline: 2, links: 2 }
      await route.fulfill({ response, json: { ...rest, data: { ...data, ...LINKED, counts } } })
    })
    await logIn(page)
    const map = page.getByRole('group', { name: 'Routers and links' })
    for (const name of ['berlin, 2 circuits', 'oslo, 1 circuit', 'rome, offline', 'wien, not enrolled']) {
      await map.getByRole('link', { name, exact: true }).waitFor()
    }
    await map.getByText('12.3 ms', { exact: true }).waitFor()
    expect(await map.locator('.router-link.is-down').count()).toBe(1)
    await map.getByRole('link', { name: 'berlin' }).hover()
    await expect.poll(() => map.locator('.router-dot.is-dim').count(), { timeout: 10_000 }).toBe(2)
    const links = page.getByRole('region', { name: 'Links' })
    await links.getByRole('row', { name: /berlin – oslo 12.3 ms 1 1.3 MB\/s/ }).waitFor()
    await links.getByRole('row', { name: /oslo – rome out of use – 1/ }).waitFor()
    expect(problems).toEqual([])
  }, 60_000)
})
