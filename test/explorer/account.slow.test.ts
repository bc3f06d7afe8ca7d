import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { STEP_MS, totp } from '../support/totp.ts'

const WHO = { username: 'delegate', password: 'delegate-password' }

/** Logs a delegate in by password and opens its account. */
async function accountPage() {
  const { net, url } = await serveExplorer()
  const body = { name: 'delegate', type: 'User' as const, isAdmin: false, permissions: ['service.read' as const] }
  const { id: identityId } = (await net.admin.call('POST /identities', { body })).data
  await net.admin.call('POST /authenticators', { body: { method: 'updb', identityId, ...WHO } })
  const opened = await openPage(url)
  await logIn(opened.page, WHO)
  await opened.page.getByRole('link', { name: 'delegate' }).click()
  await opened.page.getByRole('heading', { name: 'Your account' }).waitFor()
  return { net, identityId, ...opened }
}

describe.skipIf(!HAS_BROWSER)('the account of the user in the explorer', () => {
  afterAll(closeBrowser)

  it('has a password that its user changes, given the present one', async () => {
    const { net, page } = await accountPage()
    const part = page.getByRole('region', { name: 'Password' })
    await part.getByLabel('Current password').fill('wrong')
    await part.getByLabel('New password').fill('another-password')
    await part.getByRole('button', { name: 'Change it' }).click()
    await part.getByRole('alert').waitFor()
    await part.getByLabel('Current password').fill(WHO.password)
    await part.getByRole('button', { name: 'Change it' }).click()
    await part.getByText('The password is changed.').waitFor()
    expect(await part.getByLabel('New password').inputValue()).toBe('')
    const login = (password: string) =>
      net.management.call('POST /authenticate', { query: { method: 'password' }, body: { ...WHO, password } })
    await expect(login(WHO.password)).rejects.toThrow()
    expect((await login('another-password')).data.token).toBeTruthy()
  }, 60_000)

  it('has a second factor that its user turns on by a code, and takes away by the next', async () => {
    const { net, identityId, page, problems } = await accountPage()
    const hasFactor = async () =>
      (await net.admin.call('GET /identities/{id}', { params: { id: identityId } })).data.isMfaEnabled
    const part = page.getByRole('region', { name: 'Second factor' })
    await part.getByText('A password alone lets you in.').waitFor()
    const answered = page.waitForResponse((one) => one.url().endsWith('/mfa') && one.request().method() === 'GET')
    await part.getByRole('button', { name: 'Add a second factor' }).click()
    const { data } = await (await answered).json()
    const secret = new URL(data.provisioningUrl).searchParams.get('secret') ?? ''
    const code = part.getByLabel('Code of your authenticator app')
    await part.getByRole('img', { name: 'QR code of the second factor' }).waitFor()
    await code.fill(totp(secret, net.clock.now()))
    await part.getByRole('button', { name: 'Turn it on' }).click()
    await part.getByRole('button', { name: 'Take it away' }).waitFor()
    expect(await hasFactor()).toBe(true)
    // A code is good once.
    await net.elapse(STEP_MS)
    await code.fill(totp(secret, net.clock.now()))
    await part.getByRole('button', { name: 'Take it away' }).click()
    await part.getByRole('button', { name: 'Add a second factor' }).waitFor()
    expect(await hasFactor()).toBe(false)
    // A delegate may not read some of it, and there is no second factor: these requests are refused.
    expect(problems.filter((text) => !/40[14]/.test(text))).toEqual([])
  }, 60_000)
})
