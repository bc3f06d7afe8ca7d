import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

/** Names that break nowhere by themselves, and more role attributes than fit a row. */
const LONG = {
  name: `laptop-${'x'.repeat(60)}`,
  type: 'Device' as const,
  isAdmin: false,
  roleAttributes: Array.from({ length: 30 }, (_, n) => `attribute-${n}`),
}

/** Pixels of the window, as 200 % zoom shows them too: 1280 at 200 % is 640 wide and half as high. */
const SIZES = [
  [320, 720],
  [390, 844],
  [640, 450],
  [768, 1024],
  [1024, 768],
  [1280, 900],
  [1920, 1080],
] as const

const MOST_FRAMES = 60

/** Parts that are cut or scroll sideways: the document, and anything of the navigation that is out of sight. */
const CUT = `(() => {
  const outside = (one) => { const { left, right, width } = one.getBoundingClientRect(); return width > 0 && (left < -1 || right > innerWidth + 1) }
  const links = [...document.querySelectorAll('header a, header button')].filter((one) => !one.matches('.skip') && outside(one))
  const wide = [document.documentElement, document.querySelector('main'), ...document.querySelectorAll('figure')].filter((one) => one.scrollWidth > one.clientWidth + 1)
  return [...links.map((one) => one.textContent), ...wide.map((one) => one.tagName)]
})()`

describe.skipIf(!HAS_BROWSER)('the explorer at any width', () => {
  afterAll(closeBrowser)

  it('cuts nothing and scrolls nothing sideways, in every view', async () => {
    const { net, url } = await serveExplorer({ model: { ...NETWORK, identities: [...NETWORK.identities, LONG] } })
    const idOf = async (kind: 'identities' | 'services' | 'service-policies' | 'edge-routers', name: string) =>
      (await net.admin.call(`GET /${kind}`)).data.find((one) => one.name.includes(name))?.id ?? ''
    const [long, payroll] = [await idOf('identities', LONG.name), await idOf('services', 'payroll')]
    const places = [
      'start',
      'graph',
      'graph?as=policies',
      'graph?as=matrix',
      `why?identity=${long}&service=${payroll}`,
      `what-if?change=attributes&of=identities&id=${long}&add=staff`,
      'live',
      'changes',
      `manage?kind=identities&id=${long}`,
      'manage?kind=identities&new=true',
      'json',
      'json?kind=service-policies&new=true',
      `json?kind=identities&id=${long}`,
      `identity?id=${long}`,
      `service?id=${payroll}`,
      `policy?id=${await idOf('service-policies', 'staff-payroll')}`,
      `router?id=${await idOf('edge-routers', '')}`,
    ]
    const { page } = await openPage(url)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const found: unknown[] = []
    for (const place of places) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
      await page.locator('main h1').first().waitFor()
      await page.locator('.skeleton').first().waitFor({ state: 'detached' })
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height })
        let cut = await page.evaluate<string[]>(CUT)
        // A drawing gives way to a list some frames after the window changed.
        for (let frame = 0; cut.length > 0 && frame < MOST_FRAMES; frame += 1) {
          await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
          cut = await page.evaluate<string[]>(CUT)
        }
        if (cut.length > 0) found.push([place, width, cut])
      }
    }
    expect(found).toEqual([])
  }, 120_000)
})
