import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { HAS_FIREFOX, openInFirefox } from './firefox.ts'
import { HAS_WEBKIT, openInWebKit } from './webkit.ts'

/** A page of a browser. */
export interface DrivenPage {
  goTo(url: string): Promise<void>
  /** Answers what the body of a function returns, after its promise. */
  run(script: string): Promise<unknown>
  /** Writes a text into the field that a selector finds. */
  type(selector: string, text: string): Promise<void>
  /** Gives the window another size, in pixels of the page. */
  resize(width: number, height: number): Promise<void>
}

/** A browser of this machine. */
export interface DrivenBrowser {
  readonly name: string
  readonly isHere: boolean
  /** Names of attacks that this browser does not send at all: it has no such element, or opens no window without a click. */
  readonly keepsBack: readonly string[]
  /** Whether no other host can write a cookie whose name begins with `__Host-`. */
  readonly keepsPrefixes: boolean
  /** Opens an empty page until the test is over. */
  open(): Promise<DrivenPage>
}

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

async function openInChromium(): Promise<DrivenPage> {
  const browser = await chromium.launch({
    ...(CHROMIUM && { executablePath: CHROMIUM }),
    args: ['--no-sandbox'],
  })
  onTestFinished(() => browser.close())
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  return {
    goTo: async (url) => void (await page.goto(url)),
    run: (script) => page.evaluate(`(async () => { ${script} })()`),
    type: (selector, text) => page.locator(selector).pressSequentially(text),
    resize: (width, height) => page.setViewportSize({ width, height }),
  }
}

/** The browsers by whose pages a gateway is attacked. */
export const BROWSERS: readonly DrivenBrowser[] = [
  { name: 'Chromium', isHere: CHROMIUM !== undefined, keepsBack: [], keepsPrefixes: true, open: openInChromium },
  {
    name: 'Firefox',
    isHere: HAS_FIREFOX,
    keepsBack: [],
    keepsPrefixes: true,
    open: () => openInFirefox('about:blank'),
  },
  {
    ...{
      name: 'WebKit',
      isHere: HAS_WEBKIT,
      keepsPrefixes: false,
      keepsBack: ['window-open', 'form-post-window', 'prefetch'],
    },
    open: async () => {
      const page = await openInWebKit('about:blank')
      return { ...page, run: (script) => page.run(`return (async () => { ${script} })()`) }
    },
  },
]
