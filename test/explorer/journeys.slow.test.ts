import { decodeJwt } from 'jose'
import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { afterAll, describe, expect, it } from 'vitest'
import { createSigningRequest } from '../../adapters/network/enrollment/created-requests.ts'
import { closeBrowser, HAS_BROWSER, logIn, openPage, pick, serveExplorer } from '../support/explorer.ts'
import { IS_SHORT } from '../support/suite.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('the explorer in a browser', () => {
  afterAll(closeBrowser)

  it('leads from the login over who reaches what and why to a change that is tried, applied and seen', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page, problems } = await openPage(url)
    await logIn(page, { username: 'admin', password: 'wrong' })
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('The username or the password is not right.')
    await logIn(page)

    // The key / finds anything: the page of an identity says what it reaches, and by which policies.
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('lapt')
    await page.getByRole('option', { name: /laptop/ }).waitFor()
    await page.keyboard.press('Enter')
    const reaches = page.getByRole('region', { name: /^Reaches: 2 dial/ })
    await reaches.getByRole('link', { name: 'staff-wiki' }).waitFor()

    // Who reaches what: a small network is shown by names, and a name leads to its page.
    await page.getByRole('link', { name: 'Reach', exact: true }).click()
    await page.getByRole('button', { name: /^laptop/ }).click()
    await page.getByRole('complementary').getByRole('link', { name: 'Open its page' }).click()
    await page.getByRole('link', { name: 'Why it reaches…' }).click()

    // Why: it is missing a posture report.
    await page.getByRole('heading', { name: 'Why' }).waitFor()
    await pick(page, 'Service', 'payr')
    await page.getByText("'laptop' may not dial 'payroll': every service policy").waitFor()
    await page.getByText("The DOMAIN check 'company-domain' fails").waitFor()
    expect(await page.getByRole('group', { name: /staff-payroll/ }).getAttribute('aria-label')).toContain(
      'company-domain',
    )

    // An attribute that is added is seen at once, before anything is written.
    await page.getByRole('link', { name: 'What if', exact: true }).click()
    await pick(page, 'An identity, a service', 'phone')
    await pick(page, 'Role attributes', 'staff')
    await page.getByRole('cell', { name: '+ Dial' }).first().waitFor()
    expect(await page.locator('.count').allTextContents()).toEqual([
      'gain Dial+2',
      'lose Dial0',
      'gain Bind0',
      'lose Bind0',
    ])
    const attributes = async () =>
      (await net.admin.call('GET /identities', { query: { filter: 'name = "phone"' } })).data[0]?.roleAttributes
    expect(await attributes()).toEqual(['visitors'])
    // So is another posture, together with the change.
    await page.getByLabel('Domain').fill('corp.example')
    const circumstances = page.locator('.card', { hasText: 'Another posture, another time' })
    const gained = circumstances.getByRole('row', { name: /Dial .*phone.*payroll/ })
    await gained.waitFor()
    await page.getByLabel('Domain').fill('elsewhere.example')
    await gained.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'As model file' }).click()
    const copied = page.getByRole('textbox', { name: 'Text to copy' })
    await copied.waitFor()
    expect(await copied.inputValue()).toContain(
      'name: phone\n    type: Device\n    isAdmin: false\n    roleAttributes:',
    )
    await page.getByRole('button', { name: 'As curl' }).click()
    await expect.poll(() => copied.inputValue()).toContain(`curl -X PATCH 'https://localhost`)
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Yes, apply' }).click()
    await expect.poll(attributes).toEqual(['staff', 'visitors'])
    expect(problems.filter((text) => !/401/.test(text))).toEqual([])
  }, 60_000)

  it.skipIf(IS_SHORT)(
    'logs in by a password and a one-time code, and says when the session has ended',
    async () => {
      const { net, url } = await serveExplorer()
      // Its session has what it needs already.
      const management = await net.asAdmin()
      const app = await net.totp('Default Admin')
      const { page } = await openPage(url)
      await logIn(page)
      const code = page.getByLabel('Code of your authenticator app')
      await code.fill('000000')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.getByRole('alert').textContent()).toBe('The code is not right.')
      // A code is good once, and enrolling took the one of this half minute.
      await net.elapse(30_000)
      await code.fill(await app.code())
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      const [newest] = (await management.call('GET /api-sessions', { query: { sort: 'createdAt desc' } })).data
      await management.call('DELETE /api-sessions/{id}', { params: { id: newest?.id ?? '' } })
      // The overview asks again by itself, and may have heard of the end before anybody clicks.
      await page.evaluate("location.assign('#/manage')")
      await page.getByText('Your session has ended').waitFor()
    },
    60_000,
  )

  it.skipIf(IS_SHORT)(
    'logs in by the OpenID provider of the controller, stays so over a reload, and logs out',
    async () => {
      const { url } = await serveExplorer()
      const { page, problems } = await openPage(`${url}#/manage`)
      await page.getByRole('button', { name: 'Log in with OpenID Connect' }).click()
      await page.getByLabel('Username').waitFor()
      await expect.poll(() => new URL(page.url()).pathname).toContain('/oidc/')
      await logIn(page)
      await page.getByRole('heading', { name: 'Manage' }).waitFor()
      expect(page.url()).toBe(`${url}#/manage`)
      expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, ''])
      await page.getByRole('row', { name: /Default Admin/ }).waitFor()
      await page.reload()
      await page.getByRole('row', { name: /Default Admin/ }).waitFor()
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByText('You are logged out.').waitFor()
      await page.reload()
      await page.getByLabel('Username').waitFor()
      expect(problems).toEqual([])
    },
    60_000,
  )

  it.skipIf(IS_SHORT)(
    'shows a delegate what it may see, and says what it may not',
    async () => {
      const { net, url } = await serveExplorer({ model: NETWORK })
      const credentials = { username: 'delegate', password: 'delegate-password' }
      const permissions = ['service.read' as const]
      const body = { name: 'delegate', type: 'User' as const, isAdmin: false, permissions }
      const { id: identityId } = (await net.admin.call('POST /identities', { body })).data
      await net.admin.call('POST /authenticators', { body: { method: 'updb', identityId, ...credentials } })
      const { page } = await openPage(url)
      await logIn(page, credentials)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      const views = page.getByRole('navigation', { name: 'Views' })
      expect(await views.getByRole('link').allTextContents()).toEqual([
        'Overview',
        'Live',
        'Changes',
        'Manage',
        'Set up',
      ])
      const [wiki] = (await net.admin.call('GET /services', { query: { filter: 'name = "wiki"' } })).data
      await page.evaluate(`location.hash = "#/service?id=${wiki?.id}"`)
      const notShown = page.getByText(/^Parts that take .* are not shown\.$/)
      await notShown.waitFor()
      await expect
        .poll(() => notShown.textContent())
        .toBe(
          'Parts that take ops.read, router.read, service-edge-router-policy.read, service-policy.read and terminator.read are not shown.',
        )
      expect(await page.locator('.refused:visible').count()).toBe(0)
      expect(await page.locator('.entity-head').getByRole('link').allTextContents()).toEqual([
        '#internal',
        'Manage',
        'All fields',
      ])
      await page.evaluate('location.hash = "#/graph"')
      await page.getByText('Reach takes the permissions service-policy.read, identity.read.').waitFor()
      await page.getByRole('link', { name: 'Manage' }).click()
      expect(await page.getByRole('alert').count()).toBe(0)
      await page.getByRole('link', { name: 'Services', exact: true }).click()
      await page.getByRole('link', { name: 'payroll' }).click()
      await page.getByRole('link', { name: 'Its page' }).waitFor()
      expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    },
    60_000,
  )

  it('shows a refusal the moment it happens, and goes back in time', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const laptop = await net.enroll('laptop')
    const { page, problems } = await openPage(`${url}#/live`)
    await logIn(page)
    await page.getByText('as it happens').waitFor()
    const refusals = page.getByRole('listitem').filter({ hasText: 'was refused Dial' })
    expect(await refusals.count()).toBe(0)
    await expect(laptop.dial('payroll')).rejects.toThrow()
    await refusals.first().waitFor()
    expect(await refusals.first().textContent()).toMatch(/laptop.*payroll/)
    await page.getByLabel('Refused').uncheck()
    expect(await refusals.count()).toBe(0)
    await page.getByLabel('Refused').check()
    await page.getByRole('slider', { name: 'Look back' }).focus()
    await page.keyboard.press('Home')
    await page.getByText('looking back at').waitFor()
    expect(await refusals.count()).toBe(0)
    await page.getByRole('button', { name: 'Back to now' }).click()
    await refusals.first().getByRole('link', { name: 'why' }).click()
    await page.getByText("'laptop' may not dial 'payroll'").first().waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  it('invites an identity by a QR code with which it enrolls', async () => {
    const { net, url } = await serveExplorer()
    const { page, problems } = await openPage(`${url}#/manage?kind=identities&new=true`, { deviceScaleFactor: 2 })
    await logIn(page)
    await page.getByLabel('Name', { exact: true }).fill('tablet')
    await page.getByLabel('Invitation is good for').selectOption('a week')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Show QR code and token' }).click()
    const { width, height, data } = PNG.sync.read(await page.getByRole('img', { name: /QR code/ }).screenshot())
    const read = jsQR.default(new Uint8ClampedArray(data), width, height)?.data ?? ''
    expect(Number(decodeJwt(read).exp) - net.clock.now() / 1000).toBeGreaterThan(6 * 86_400)
    await page.getByRole('link', { name: 'Save as a file' }).waitFor()
    const { csr } = await createSigningRequest('tablet')
    const body = { token: String(decodeJwt(read).jti), clientCsr: csr }
    const enrolled = await net.client().call('POST /enroll/ott', { body })
    expect(enrolled.data.cert).toContain('BEGIN CERTIFICATE')
    expect(problems).toEqual([])
  }, 60_000)
})
