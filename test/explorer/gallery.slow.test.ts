import { readdir, readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER } from '../support/explorer.ts'
import { CUT } from './every-width.ts'
import { foundOn } from './found-by-axe.ts'
import { openGallery } from './gallery/opened-gallery.ts'

const PARTS = new URL('../../adapters/tools/explorer/page/parts/', import.meta.url)
/** The components of the gallery that are no part of their own, or stand in another folder. */
const OTHERS = ['Buttons', 'Dialog', 'Fields', 'Notices', 'Spark', 'States', 'Table', 'Tabs']

/** The names of the components that all views share. */
async function sharedComponents(): Promise<readonly string[]> {
  const names = (await readdir(PARTS)).filter((name) => name.endsWith('.tsx'))
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, PARTS), 'utf8')))
  return texts.flatMap((text) => [...text.matchAll(/^export function ([A-Z]\w*)/gm)].map(([, name = '']) => name))
}

describe.skipIf(!HAS_BROWSER)('the gallery of the components', () => {
  afterAll(closeBrowser)

  it('has every component that views share', async () => {
    const { page, problems } = await openGallery({})
    await page.getByRole('heading', { name: 'Gallery' }).waitFor()
    const shown = await page.locator('.what-if-body > section > h2').allTextContents()
    expect(shown.toSorted()).toEqual([...OTHERS, ...(await sharedComponents())].toSorted())
    const empty = '.what-if-body > section:not(:has(> h2 + *))'
    expect(await page.locator(empty).allTextContents()).toEqual([])
    const colorOf = (chip: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(chip)})).backgroundColor`)
    expect(await colorOf('.chip-wrong')).not.toBe(await colorOf('.chip:not(.chip-wrong)'))
    expect(problems).toEqual([])
  }, 60_000)

  it.each(['light', 'dark'] as const)(
    'has nothing for axe and nothing that is cut, %s',
    async (colorScheme) => {
      const { page } = await openGallery({ colorScheme })
      const found: unknown[] = []
      for (const width of [320, 1280, 2560]) {
        await page.setViewportSize({ width, height: 900 })
        await page.getByRole('row').filter({ hasText: 'ben.okafor-laptop' }).first().waitFor()
        const cut = await page.evaluate<readonly unknown[]>(`(async () => { ${CUT} })()`)
        found.push(...cut.map((one) => [width, one]), ...(await foundOn(page, `${width}`)))
      }
      await page.getByRole('button', { name: 'Open the dialog' }).click()
      await page.getByRole('dialog').getByLabel('Value').waitFor()
      found.push(...(await foundOn(page, 'the dialog')))
      expect(found).toEqual([])
    },
    60_000,
  )
})
