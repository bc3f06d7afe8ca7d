import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { DrivenPage } from '../support/driven-browser.ts'
import { HAS_FIREFOX, openInFirefox } from '../support/firefox.ts'
import { framed } from '../support/framed.ts'
import { plainlyServed } from '../support/plainly-served.ts'
import { HAS_WEBKIT, openInWebKit } from '../support/webkit.ts'
import { cutParts, everyPlace, WIDE_NETWORK } from './every-width.ts'

const PATIENT = { timeout: 30_000 }

/** Opens an address in WebKit within a frame, whose size is that of the page. */
async function openFramed(url: string): Promise<DrivenPage> {
  const page = await openInWebKit(await framed(url))
  await page.resize(2630, 1610)
  await page.enterFrame()
  const run = (script: string) => page.run(`return (async () => { ${script} })()`)
  const resize = async (width: number, height: number) => {
    await run(`Object.assign(frameElement.style, { width: '${width}px', height: '${height}px' })`)
  }
  return { ...page, run, resize }
}

const ENGINES = [
  { name: 'Firefox', isHere: HAS_FIREFOX, open: openInFirefox },
  { name: 'WebKit', isHere: HAS_WEBKIT, open: openFramed },
]

describe.each(ENGINES)('the explorer at any width in $name', ({ isHere, open }) => {
  it.skipIf(!isHere)(
    'cuts nothing and scrolls nothing sideways, in every view',
    async () => {
      const net = await createTestController({ clock: 'live', model: WIDE_NETWORK })
      onTestFinished(() => net.close())
      const page = await open(await plainlyServed(net))
      const isThere = () => page.run('return document.querySelector("input[name=username]") !== null')
      await expect.poll(isThere, PATIENT).toBe(true)
      await page.type('input[name=username]', 'admin')
      await page.type('input[name=password]', 'admin-password')
      await page.run('document.querySelector("form button").click()')
      await expect.poll(() => page.run('return document.body.innerText'), PATIENT).toContain('services have no host')
      expect(await cutParts(page, await everyPlace(net))).toEqual([])
    },
    300_000,
  )
})
