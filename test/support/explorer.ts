import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { EXPLORER_PATH, withExplorer } from 'portcullis/explorer'
import type { NetworkModel } from 'portcullis/model'
import { serve } from 'portcullis/node'
import type { ServiceConnection } from 'portcullis/sdk'
import { createTestController, TEST_ADMIN, type TestController } from 'portcullis/testing'
import { onTestFinished } from 'vitest'
import { freePort } from './free-port.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
/** Whether the explorer can be looked at; without a browser its tests are skipped, and say so. */
export const HAS_BROWSER = CHROMIUM !== undefined
if (!HAS_BROWSER) process.stdout.write('explorer: not seen in a browser, because there is no Chromium\n')

/** A controller on a socket that serves the explorer as well. */
export interface ServedExplorer {
  readonly net: TestController
  readonly url: string
}

/** Serves a controller with its explorer until the test is over. */
export async function serveExplorer(options: Parameters<typeof createTestController>[0] = {}): Promise<ServedExplorer> {
  const port = await freePort()
  const address = `localhost:${port}`

  const net = await createTestController({ clock: 'live', address, ...options })
  onTestFinished(() => net.close())
  return serveExplorerOf(net, port)
}

/** Serves the explorer of a controller that is there until the test is over. */
export async function serveExplorerOf<Net extends Pick<TestController, 'fetch' | 'engine' | 'tls'>>(
  net: Net,
  port: number,
): Promise<{ readonly net: Net; readonly url: string }> {
  const server = await serve(withExplorer(net), { port })
  onTestFinished(() => server.close({ graceMs: 0 }))
  return { net, url: `https://localhost:${port}${EXPLORER_PATH}/` }
}

/** Serves a network with a router in its process, in which `host` hosts the service wiki and keeps every connection open. */
export async function serveTraffic(model: NetworkModel) {
  const port = await freePort()
  const net = await createTestController({ clock: 'live', router: true, model, address: `localhost:${port}` })
  onTestFinished(() => net.close())
  await net.as('host').host('wiki', (connection: ServiceConnection) => void connection.on('error', IGNORED))
  return serveExplorerOf(net, port)
}

/** Connections that are cut report it; no test waits for it at a host. */
const IGNORED = () => undefined

let browser: Promise<Browser> | undefined

/** A page of the browser, and what went wrong in it: errors, and what the content security policy refused. */
export interface OpenPage {
  readonly page: Page
  readonly problems: string[]
}

/** Opens a page until the test is over, after `prepare`. The browser ends with {@link closeBrowser}. */
export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
  prepare: (page: Page) => Promise<unknown> = async () => undefined,
): Promise<OpenPage> {
  browser ??= chromium.launch({ ...(CHROMIUM && { executablePath: CHROMIUM }), args: ['--no-sandbox'] })
  const context = await (await browser).newContext({ ignoreHTTPSErrors: true, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await prepare(page)
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(url)
  return { page, problems }
}

/** Ends the browser that {@link openPage} started. */
export async function closeBrowser(): Promise<void> {
  const started = browser
  browser = undefined
  await (await started)?.close()
}

/** Logs in by password on the page of the login. */
export async function logIn(page: Page, who: { username: string; password: string } = TEST_ADMIN): Promise<void> {
  await page.getByLabel('Username').fill(who.username)
  await page.getByLabel('Password').fill(who.password)
  await page.keyboard.press('Enter')
}

/** Finds something in a field that offers names, and picks the first. */
export async function pick(page: Page, field: string, text: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).fill(text)
  await page.locator('[role=listbox]:not([hidden]) [role=option]').first().waitFor()
  await page.keyboard.press('Enter')
}
