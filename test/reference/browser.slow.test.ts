import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { createTestController } from 'portcullis/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
if (CHROMIUM === undefined) process.stdout.write('API reference: not seen in a browser, because there is no Chromium\n')

let browser: Browser | undefined

beforeAll(async () => {
  if (CHROMIUM !== undefined) browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
})
afterAll(() => browser?.close())

describe.skipIf(CHROMIUM === undefined)('the API reference in a browser', () => {
  it.each([
    ['light', 1280],
    ['dark', 320],
  ] as const)('is searched and read by the keyboard, %s, %i pixels wide', async (colorScheme, width) => {
    await using controller = await createTestController({ apiPage: true })
    const { url } = await controller.listen()
    const context = await browser?.newContext({
      ignoreHTTPSErrors: true,
      javaScriptEnabled: true,
      colorScheme,
      viewport: { width, height: 900 },
    })
    const page = await context?.newPage()
    if (context === undefined || page === undefined) throw new Error('no browser')
    const problems: string[] = []
    const hosts = new Set<string>()
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('request', (request) => hosts.add(new URL(request.url()).origin))
    const isWiderThanTheWindow = () => page.evaluate('document.documentElement.scrollWidth > innerWidth')

    await page.goto(`${url}/portcullis/docs`)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('API reference')
    expect(await page.locator('ul.operations li').count()).toBeGreaterThan(256)
    expect(await isWiderThanTheWindow()).toBe(false)
    await page.getByRole('searchbox').focus()
    await page.keyboard.type('creates one service')
    await page.keyboard.press('Enter')
    const creation = page.getByRole('link', { name: '/edge/management/v1/services', exact: true })
    await creation.focus()
    await page.keyboard.press('Enter')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Creates one service')
    expect(await page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")).toBe('1088px')
    expect(await isWiderThanTheWindow()).toBe(false)
    await page.getByText('UNAUTHORIZED').first().click()
    await page.getByRole('link', { name: 'Portcullis API reference' }).click()
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('API reference')

    expect([...hosts]).toEqual([new URL(url).origin])
    expect(problems.filter((text) => !text.includes('favicon'))).toEqual([])
    await context.close()
  })
})
