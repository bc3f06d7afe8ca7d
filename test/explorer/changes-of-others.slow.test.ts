import { connect, createServer, type Socket } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, type ServedExplorer, serveExplorer } from '../support/explorer.ts'
import { freePort } from '../support/free-port.ts'
import { NETWORK } from './network.ts'

/** The longest time (ms) until a change of somebody else is in sight. */
const SOON = { timeout: 2000, interval: 50 }
/** A busy machine takes its time where no promise is made. */
const PATIENT = { timeout: 20_000 }

async function idOf({ net }: ServedExplorer, kind: 'identities' | 'services', name: string): Promise<string> {
  return (await net.admin.call(`GET /${kind}`, { query: { filter: `name = "${name}"` } })).data[0]?.id ?? ''
}

/** A port through which connections go until it is shut. */
async function door(port: number, target: number) {
  const sockets = new Set<Socket>()
  const server = createServer((one) => {
    const other = connect(target, '127.0.0.1')
    for (const socket of [one, other]) {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    }
    one.pipe(other).pipe(one)
  })
  const open = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const shut = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  await open()
  onTestFinished(shut)
  return { open, shut }
}

async function go(page: Page, fragment: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`)
}

describe.skipIf(!HAS_BROWSER)('a view while somebody else changes the network', () => {
  afterAll(closeBrowser)

  it('shows lists, a verdict and a form as they are within two seconds, and keeps what is typed', async () => {
    const served = await serveExplorer({ model: NETWORK })
    const { net, url } = served
    const { page, problems } = await openPage(`${url}#/manage?kind=identities`)
    await logIn(page)
    const laptop = await idOf(served, 'identities', 'laptop')
    const give = (roleAttributes: readonly string[]) =>
      net.admin.call('PATCH /identities/{id}', {
        params: { id: laptop },
        body: { roleAttributes: [...roleAttributes] },
      })
    const row = page.getByRole('row', { name: /laptop/ })
    await row.getByRole('link', { name: '#staff' }).waitFor()
    const filter = page.getByRole('combobox', { name: 'Filter', exact: true })
    await filter.fill('lap')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /phone/ }).waitFor({ state: 'detached' })
    await filter.fill('attr:st')
    await give(['staff', 'travelling'])
    await expect.poll(() => row.getByRole('link', { name: '#travelling' }).count(), SOON).toBe(1)
    await page.getByText('changed identity laptop, just now').waitFor()
    expect(await filter.inputValue()).toBe('attr:st')

    await go(page, `#/why?identity=${laptop}&service=${await idOf(served, 'services', 'wiki')}`)
    await page.locator('.verdict').getByText("'laptop' may dial 'wiki'").waitFor()
    await give(['travelling'])
    const verdict = () => page.locator('.verdict-text').textContent()
    await expect.poll(verdict, SOON).toContain("'laptop' may not dial 'wiki'")

    await go(page, `#/json?kind=identities&id=${laptop}`)
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('notebo')
    await give(['travelling', 'returned'])
    await page.getByRole('button', { name: 'Take #returned away' }).waitFor(SOON)
    await page.keyboard.type('ok')
    expect(await name.inputValue()).toBe('notebook')
    // The field that both changed is named before it is written.
    await net.admin.call('PATCH /identities/{id}', { params: { id: laptop }, body: { name: 'tablet' } })
    await page.getByText('Somebody else changed Name meanwhile').waitFor(SOON)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody else changed Name meanwhile').waitFor({ state: 'hidden' })
    const { data } = await net.admin.call('GET /identities/{id}', { params: { id: laptop } })
    expect(data).toMatchObject({ name: 'notebook', roleAttributes: ['returned', 'travelling'] })
    expect(problems).toEqual([])
  }, 90_000)

  it('asks nothing while it is hidden, and once when it is seen again', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/manage?kind=services`)
    await logIn(page)
    await page.getByRole('row', { name: /wiki/ }).waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await hide(true)
    await net.admin.call('POST /services', { body: { name: 'unseen' } })
    // Longer than the pause between an event and its question.
    await page.waitForTimeout(1500)
    expect(asked).toEqual([])
    await hide(false)
    await expect.poll(() => page.getByRole('row', { name: /unseen/ }).count(), SOON).toBe(1)
    expect(asked.filter((path) => path.endsWith('/services')).length).toBe(1)
  }, 60_000)

  it('says that it is not live while the controller is away, and is right again when it is back', async () => {
    const outer = await freePort()
    const { net, url } = await serveExplorer({ model: NETWORK, address: `localhost:${outer}` })
    const way = await door(outer, Number(new URL(url).port))
    const { page } = await openPage(`${url.replace(new URL(url).port, String(outer))}#/manage?kind=services`)
    await logIn(page)
    await page.getByRole('row', { name: /wiki/ }).waitFor()
    way.shut()
    await page.getByText('Not live, trying again.').waitFor()
    await net.admin.call('POST /services', { body: { name: 'meanwhile' } })
    await page.getByRole('row', { name: /wiki/ }).waitFor()
    await way.open()
    await expect.poll(() => page.getByRole('row', { name: /meanwhile/ }).count(), PATIENT).toBe(1)
    await page.getByText('Not live, trying again.').waitFor({ state: 'hidden' })
  }, 90_000)
})
