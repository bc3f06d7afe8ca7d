import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { cutParts, everyPlace, WIDE_NETWORK } from './every-width.ts'

describe.skipIf(!HAS_BROWSER)('the explorer at any width', () => {
  afterAll(closeBrowser)

  it('cuts nothing and scrolls nothing sideways, in every view', async () => {
    const { net, url } = await serveExplorer({ model: WIDE_NETWORK })
    const { page } = await openPage(url)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const driven = {
      run: (script: string) => page.evaluate<unknown>(`(async () => { ${script} })()`),
      resize: (width: number, height: number) => page.setViewportSize({ width, height }),
    }
    expect(await cutParts(driven, await everyPlace(net))).toEqual([])
  }, 180_000)
})
