// `npm run pictures` photographs every view, and the gallery of components, at three widths, light and dark, for readers who judge how it
// looks. PICTURES names the folder, ONLY (a regular expression) the pictures, WIDTHS and SCHEMES some of the widths and schemes.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, expect, it } from 'vitest'
import { closeBrowser, logIn, openPage, serveExplorer } from '../../support/explorer.ts'
import { openGallery } from '../gallery/opened-gallery.ts'
import { serveCompany } from './pictured-network.ts'
import { EMPTY_PLACES, everyPicture } from './pictured-places.ts'

const { PICTURES = '', ONLY = '', WIDTHS = '390,1280,1920', SCHEMES = 'light,dark' } = process.env
const HEIGHTS: Readonly<Record<number, number>> = { 390: 844, 1280: 900, 1920: 1080, 2560: 1440 }
/** Pixels: the end of a longer view says nothing new. */
const HIGHEST = 3200

/** Whether the view stands: nothing is asked for, and nothing is drawn again. */
const STANDS = `document.querySelector('main :is(h1, .problem, .empty)') !== null
  && document.querySelector('main :is(.skeleton, [aria-busy=true])') === null`

/** How much further the view goes below its window. */
const HIDDEN_HEIGHT = `Math.max(0, ...[...document.querySelectorAll('main, main *:not(textarea)')]
  .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowY))
  .map((one) => one.scrollHeight - one.clientHeight))`

/** Photographs some views at a width, each as long as it is; answers how many. */
async function photograph(
  url: string,
  places: Readonly<Record<string, string>>,
  prefix: string,
  colorScheme: 'light' | 'dark',
  width: number,
): Promise<number> {
  const height = HEIGHTS[width] ?? 900
  const wanted = Object.entries(places).filter(([name]) => new RegExp(ONLY).test(`${prefix}${name}`))
  const take = (page: Page, name: string) =>
    page.screenshot({ path: join(PICTURES, `${prefix}${name}-${width}-${colorScheme}.png`) })
  if (wanted.length === 0) return 0
  const { page, problems } = await openPage(url, { colorScheme, viewport: { width, height }, locale: 'en-GB' })
  await page.getByLabel('Username').waitFor()
  if (new RegExp(ONLY).test(`${prefix}login`)) await take(page, 'login')
  await logIn(page)
  for (const [name, place] of wanted) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
    // The view of before stands for another moment.
    await page.waitForTimeout(500)
    await expect.poll(() => page.evaluate<boolean>(STANDS), { message: name, timeout: 20_000 }).toBe(true)
    const hidden = await page.evaluate<number>(HIDDEN_HEIGHT)
    if (hidden > 0) {
      await page.setViewportSize({ width, height: Math.min(height + hidden, HIGHEST) })
      await page.waitForTimeout(300)
    }
    await take(page, name)
    await page.setViewportSize({ width, height })
  }
  expect(problems.filter((text) => !/40[14]/.test(text))).toEqual([])
  return wanted.length
}

/** Photographs the components at a width; answers how many pictures it took. */
async function photographGallery(colorScheme: 'light' | 'dark', width: number): Promise<number> {
  if (!new RegExp(ONLY).test('gallery')) return 0
  const { page } = await openGallery({ colorScheme, viewport: { width, height: 900 }, locale: 'en-GB' })
  await page.getByRole('row').filter({ hasText: 'ben.okafor-laptop' }).first().waitFor()
  await page.screenshot({ path: join(PICTURES, `gallery-${width}-${colorScheme}.png`), fullPage: true })
  await page.getByRole('button', { name: 'Open the dialog' }).click()
  await page.screenshot({ path: join(PICTURES, `gallery-dialog-${width}-${colorScheme}.png`) })
  return 2
}

afterAll(closeBrowser)

it('every view stands, and is photographed', async () => {
  mkdirSync(PICTURES, { recursive: true })
  const [empty, company] = [await serveExplorer(), await serveCompany()]
  const places = await everyPicture(company.net)
  let taken = 0
  for (const scheme of SCHEMES.split(',')) {
    const colors = scheme === 'dark' ? 'dark' : 'light'
    for (const width of WIDTHS.split(',').map(Number)) {
      taken += await photographGallery(colors, width)
      taken += await photograph(company.url, places, '', colors, width)
      taken += await photograph(empty.url, EMPTY_PLACES, 'empty-', colors, width)
    }
  }
  expect(taken).toBeGreaterThan(0)
}, 3_600_000)
