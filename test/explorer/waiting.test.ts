import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('a picture that is slow, or fails', () => {
  afterAll(closeBrowser)

  it('says that it is being read, where it will stand, and shows it then', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/changes`)
    await logIn(page)
    await page.locator('.audit li').first().waitFor()
    let letThrough: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      letThrough = resolve
    })
    await page.route('**/access-map?**', async (route) => {
      await held
      await route.continue()
    })
    await page.evaluate('location.hash = "#/graph"')
    const word = page.locator('.map-frame').getByText('Reading…')
    await word.waitFor()
    const opacity = () => page.evaluate<string>("getComputedStyle(document.querySelector('.skeleton')).opacity")
    await expect.poll(opacity, { timeout: 10_000 }).toBe('1')
    letThrough()
    await page.locator('.map .group').first().waitFor()
    expect(await word.count()).toBe(0)
  }, 60_000)

  it('says what went wrong in a card of its own height, and reads it again when it is asked to', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/changes`)
    await logIn(page)
    await page.locator('.audit li').first().waitFor()
    await page.route('**/access-map?**', (route) => route.abort())
    await page.evaluate('location.hash = "#/graph"')
    const problem = page.locator('.map-frame').getByRole('alert')
    await problem.waitFor()
    expect((await problem.boundingBox())?.height).toBeLessThan(80)
    await page.unroute('**/access-map?**')
    await problem.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.map .group').first().waitFor()
  }, 60_000)
})
