import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { serve } from 'portcullis/node'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { adminOf, create } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { externalProvider } from '../support/external-provider.ts'
import { freePort } from '../support/free-port.ts'
import { authorizeQuery, bearing, claimsOf, exchangeCode, proofKey, tokensIn } from '../support/openid.ts'
import { authPolicy, person } from '../support/people.ts'
import { socketMount } from '../support/socket-mount.ts'
import { totp } from '../support/totp.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
if (CHROMIUM === undefined) process.stdout.write('login page: not seen in a browser, because there is no Chromium\n')

let browser: Browser | undefined

/** A controller on a socket, an application that waits for its code, and a page of a browser that goes to log in. */
async function begin(prepare: (mounted: MountedController) => Promise<void> = async () => undefined) {
  const port = await freePort()
  const options = { address: `localhost:${port}`, allowPrivateJwks: true }
  const mounted = await socketMount((controller) => serve(controller, { port }))(options)
  onTestFinished(() => mounted.dispose())
  await prepare(mounted)
  const arrivals: URL[] = []
  const application = createServer((request, response) => {
    arrivals.push(new URL(request.url ?? '', 'http://localhost'))
    response.end('<!doctype html><title>Application</title><p>Logged in')
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void application.close())
  const { port: callbackPort } = application.address() as AddressInfo
  const redirectUri = `http://127.0.0.1:${callbackPort}/auth/callback`
  const key = proofKey()
  const context = await browser?.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled: false })
  const page = await context?.newPage()
  if (context === undefined || page === undefined) throw new Error('no browser')
  onTestFinished(() => context.close())
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  const url = `https://localhost:${port}/oidc/authorize?${authorizeQuery(key, { redirect_uri: redirectUri })}`
  await page.goto(url)
  const tokens = async () => {
    const code = arrivals.find(({ pathname }) => pathname === '/auth/callback')?.searchParams.get('code') ?? ''
    return tokensIn(await exchangeCode(mounted, code, key, { redirect_uri: redirectUri }))
  }
  return { mounted, page, problems, arrivals, tokens }
}

/** Fills in the page by the keyboard alone, as somebody does who does not see it. */
async function logIn(page: Page, username: string, password: string) {
  await page.getByLabel('Username').fill('')
  await page.keyboard.type(username)
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
}

/** Waits for the page with a title. */
async function titled(page: Page, title: string) {
  await expect.poll(() => page.title().catch(() => ''), { timeout: 20_000 }).toBe(title)
}

describe.skipIf(CHROMIUM === undefined)('the login page in a browser without scripts', () => {
  beforeAll(async () => {
    browser = await chromium.launch({ ...(CHROMIUM && { executablePath: CHROMIUM }), args: ['--no-sandbox'] })
  }, 60_000)
  afterAll(async () => browser?.close())

  it('leads from authorize by a wrong and a right password back to the application', async () => {
    const { mounted, page, problems, tokens } = await begin()
    const who = await person(mounted, await adminOf(mounted), 'ann')
    await titled(page, 'Log in')
    expect(await page.evaluate('document.activeElement.id')).toBe('username')
    await logIn(page, who.username, 'wrong')
    await titled(page, 'Error: Log in')
    expect(await page.getByRole('alert').textContent()).toBe('The username or the password is not right.')
    expect(await page.getByLabel('Username').inputValue()).toBe(who.username)
    expect(await page.getByLabel('Username').getAttribute('aria-describedby')).toBe('problem')
    // The style is let in by the content security policy.
    const width = await page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")
    expect(width).toBe('360px')
    await logIn(page, who.username, who.password)
    await titled(page, 'Application')
    const { access_token } = await tokens()
    expect((await bearing(mounted, access_token)).status).toBe(200)
    // A failed login is told as an error of the network; nothing else went wrong on the pages.
    expect(problems.filter((text) => !/401/.test(text))).toEqual([])
  }, 60_000)

  it('asks for the second factor that the auth policy demands, and sets it up on the way', async () => {
    const { mounted, page, arrivals, tokens } = await begin()
    const admin = await adminOf(mounted)
    const authPolicyId = await create(admin, '/auth-policies', authPolicy('totp', {}, { requireTotp: true }))
    const who = await person(mounted, admin, 'ben', { authPolicyId })
    await logIn(page, who.username, who.password)
    await page.getByRole('button', { name: 'Set up an authenticator app' }).press('Enter')
    expect(await page.getByRole('img').getAttribute('alt')).toBe('QR code for an authenticator app')
    expect(await page.evaluate("document.querySelector('img').naturalWidth")).toBe(256)
    const secret = (await page.locator('code').textContent()) ?? ''
    await page.getByLabel('Code of your authenticator app').fill('000000')
    await page.keyboard.press('Enter')
    await titled(page, 'Error: Set up a second factor')
    expect(await page.getByRole('alert').textContent()).toBe('The code is not right.')
    expect(arrivals).toEqual([])
    await page.getByLabel('Code of your authenticator app').fill(totp(secret, mounted.clock.now()))
    await page.keyboard.press('Enter')
    await titled(page, 'Application')
    expect(claimsOf((await tokens()).access_token)).toMatchObject({ sub: who.id, amr: ['password', 'totp'] })
  }, 60_000)

  it('offers external signers, which send people there and back, for a login and beside a password', async () => {
    let external: Awaited<ReturnType<typeof externalProvider>> | undefined
    let signer = ''
    const { mounted, page, problems, tokens } = await begin(async (prepared) => {
      external = await externalProvider(() => prepared.clock.now())
      signer = await create(await adminOf(prepared), '/external-jwt-signers', external.signer)
    })
    const admin = await adminOf(mounted)
    const policy = authPolicy('signed', {}, { requireExtJwtSigner: signer })
    const authPolicyId = await create(admin, '/auth-policies', policy)
    const who = await person(mounted, admin, 'cay', { authPolicyId })
    if (external === undefined) throw new Error('no signer')
    // The words that a screen reader is told.
    const told = await page.locator('main').ariaSnapshot()
    expect(told).toContain('- heading "Log in" [level=1]')
    expect(told).toContain('- textbox "Password"')
    expect(told).toContain('- list "Other ways to log in":')
    expect(told).toContain('- link "Log in with Corporate login"')
    // By the keyboard alone: the fields, two buttons, and the link.
    for (let tab = 0; tab < 4; tab += 1) await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Log in with Corporate login')
    external.state.subject = 'stranger'
    await page.keyboard.press('Enter')
    await titled(page, 'Error: Log in')
    expect(await page.getByRole('alert').textContent()).toBe('No person with that login may log in here.')
    await logIn(page, who.username, who.password)
    await titled(page, 'Another proof is needed')
    external.state.subject = who.id
    await page.getByRole('link', { name: 'Continue with Corporate login' }).press('Enter')
    await titled(page, 'Application')
    const amr = ['password', `ejs:${signer}`]
    expect(claimsOf((await tokens()).access_token)).toMatchObject({ sub: who.id, amr })
    expect(problems.filter((text) => !/401/.test(text))).toEqual([])
  }, 60_000)
})
