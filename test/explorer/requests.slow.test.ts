import { SYSTEM_CALL } from 'portcullis'
import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('the overview', () => {
  afterAll(closeBrowser)

  it('shows requests for access as they come, to be approved or refused with a note', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { items } = await net.engine.identities.list(SYSTEM_CALL, { filter: 'name = "phone"' })
    const phone = net.as(await net.engine.host.startSession(items[0]?.id ?? ''))
    const ask = (service: string, reason: string) =>
      phone.accessRequests.create({ service, durationMs: 7_200_000, reason })
    const { page, problems } = await openPage(url)
    await logIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const card = page.getByRole('region', { name: 'Requests for access' })
    expect(await card.count()).toBe(0)

    const [one, other] = [await ask('payroll', 'the 28th'), await ask('nothing', 'a guess')]
    const lines = card.getByRole('listitem')
    const first = lines.filter({ hasText: 'phone asks to dial payroll for 2 h, because: the 28th' })
    const second = lines.filter({ hasText: 'There is no such service.' })
    await second.waitFor()
    expect(await second.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    await first.getByLabel('Note to the identity').fill('until the evening')
    await first.getByRole('button', { name: 'Approve' }).click()
    await first.waitFor({ state: 'detached' })
    await second.getByRole('button', { name: 'Refuse' }).click()
    await card.waitFor({ state: 'detached' })
    expect(await phone.accessRequests.get(one.id)).toMatchObject({ state: 'approved', note: 'until the evening' })
    expect(await phone.accessRequests.get(other.id)).toMatchObject({ state: 'refused', note: null })
    expect(problems).toEqual([])
  }, 90_000)
})
