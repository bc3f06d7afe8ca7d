import { afterAll, describe, expect, it } from 'vitest'
import { day, issue, issueAuthority, pemOf } from '../support/certificates/certificates.ts'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer, serveTraffic } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

const HOST = { name: 'host', type: 'Service', isAdmin: false, roleAttributes: ['hosts'] } as const

describe.skipIf(!HAS_BROWSER)('the acts on an entity in the explorer', () => {
  afterAll(closeBrowser)

  it('verify a certificate authority by a certificate that it signed', async () => {
    const { net, url } = await serveExplorer()
    const notAfter = Date.now() + day
    const authority = await issueAuthority({ subject: 'CN=third party', notAfter })
    const flags = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: true, isOttCaEnrollmentEnabled: false }
    const body = { name: 'third party', certPem: pemOf(authority), identityRoles: [], ...flags }
    const { id } = (await net.admin.call('POST /cas', { body })).data
    const { page, problems } = await openPage(`${url}#/json?kind=cas&id=${id}`)
    await logIn(page)
    const part = page.getByRole('region', { name: 'It is not verified yet' })
    const token = (await part.locator('code').textContent()) ?? ''
    await part
      .getByLabel('The signed certificate')
      .fill(pemOf(await issue({ subject: `CN=${token}`, issuer: authority, notAfter })))
    await part.getByRole('button', { name: 'Verify' }).click()
    await part.waitFor({ state: 'detached' })
    expect((await net.admin.call('GET /cas/{id}', { params: { id } })).data.isVerified).toBe(true)
    const file = page.getByRole('link', { name: 'Save third party.jwt' })
    expect(await file.getAttribute('href')).toMatch(/^data:text\/plain;charset=utf-8,ey.*\..*\./)
    expect(problems).toEqual([])
  }, 60_000)

  it('have an edge router enroll anew, with a new token', async () => {
    const { net, url } = await serveTraffic({ ...NETWORK, identities: [...NETWORK.identities, HOST] })
    const [router] = (await net.admin.call('GET /edge-routers')).data
    const { page, problems } = await openPage(`${url}#/json?kind=edge-routers&id=${router?.id}`)
    await logIn(page)
    await page.getByRole('button', { name: 'Enroll anew' }).click()
    await page.getByText('Disconnect it until it enrolls by a new token?').waitFor()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByRole('link', { name: `Save ${router?.name}.jwt` }).waitFor()
    const { data } = await net.admin.call('GET /edge-routers/{id}', { params: { id: router?.id ?? '' } })
    expect(data).toMatchObject({ isVerified: false, isOnline: false })
    expect(problems).toEqual([])
  }, 60_000)

  it('make a webhook by its form, and show its new secret once', async () => {
    const { url } = await serveExplorer()
    const { page, problems } = await openPage(`${url}#/json?kind=webhooks&new=true`)
    await logIn(page)
    await page.getByLabel('Name', { exact: true }).fill('chat')
    await page.getByLabel('Endpoint', { exact: true }).fill('https://chat.example/hook')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Make a new secret' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('link', { name: 'webhooks', exact: true }).click()
    await page.getByRole('row', { name: 'chat' }).waitFor()
    await page.getByRole('link', { name: 'chat' }).click()
    await expect.poll(() => page.getByLabel('Endpoint', { exact: true }).inputValue()).toBe('https://chat.example/hook')
    expect(problems).toEqual([])
  }, 60_000)

  it('revoke one credential, and end one session, of an identity', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    await (await net.enroll('laptop')).call('GET /services')
    const [{ id = '' } = {}] = (await net.admin.call('GET /identities', { query: { filter: 'name = "laptop"' } })).data
    const { page, problems } = await openPage(`${url}#/identity?id=${id}`)
    await logIn(page)
    const filter = `identity = "${id}"`
    const sessions = async () => (await net.admin.call('GET /api-sessions', { query: { filter } })).data.length
    expect(await sessions()).toBe(1)
    await page.getByRole('region', { name: 'API sessions' }).getByRole('button', { name: 'End' }).click()
    await expect.poll(sessions).toBe(0)
    const credentials = page.getByRole('region', { name: 'Credentials' })
    await credentials.getByRole('button', { name: 'Revoke' }).click()
    await credentials.getByRole('button', { name: 'Yes' }).click()
    await credentials.getByText('None: it cannot log in yet.').waitFor()
    expect((await net.admin.call('GET /authenticators', { query: { filter } })).data).toEqual([])
    expect(problems).toEqual([])
  }, 60_000)

  it('take the second factor of an identity away', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    await net.totp('phone')
    const [{ id = '' } = {}] = (await net.admin.call('GET /identities', { query: { filter: 'name = "phone"' } })).data
    const { page } = await openPage(`${url}#/manage?kind=identities&id=${id}`)
    await logIn(page)
    await page.getByRole('button', { name: 'Reset second factor' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByRole('button', { name: 'Reset second factor' }).waitFor({ state: 'detached' })
    expect((await net.admin.call('GET /identities/{id}', { params: { id } })).data.isMfaEnabled).toBe(false)
  }, 60_000)

  it('end in a network that is used: an identity is online, and a circuit is open', async () => {
    const { net, url } = await serveTraffic({ ...NETWORK, identities: [...NETWORK.identities, HOST] })
    const { page } = await openPage(`${url}#/json`)
    await logIn(page)
    const step = (name: string) =>
      page.locator('.steps li').filter({ has: page.getByRole('link', { name, exact: true }) })
    await step('circuits').getByText('none yet').waitFor()
    const connection = await net.as('laptop').dial('wiki')
    await step('circuits').getByText('✓ 1').waitFor()
    await step('connected identities').getByText(/✓ \d/).waitFor()
    connection.destroy()
    await step('circuits').getByText('none yet').waitFor()
  }, 60_000)
})
