import { connect, createServer, type Socket } from 'node:net'
import { createTestController } from 'portcullis/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { freePort } from '../support/free-port.ts'
import { plainlyServed } from '../support/plainly-served.ts'
import { HAS_WEBKIT, openInWebKit } from '../support/webkit.ts'
import { NETWORK } from './network.ts'

/** A socket that passes bytes on until it is told to swallow them, without ending anything. */
async function swallowing(port: number, target: number) {
  let isSwallowing = false
  const sockets: Socket[] = []
  const server = createServer((one) => {
    const other = connect(target, '127.0.0.1')
    sockets.push(one, other)
    for (const socket of [one, other]) socket.on('error', () => undefined)
    one.on('data', (bytes) => isSwallowing || other.write(bytes))
    other.on('data', (bytes) => isSwallowing || one.write(bytes))
    one.on('close', () => other.destroy())
    other.on('close', () => one.destroy())
  }).listen(port, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { swallow: () => (isSwallowing = true), passOn: () => (isSwallowing = false) }
}

describe.skipIf(!HAS_WEBKIT)('Live in the engine of Safari', () => {
  it('comes to life, and shows what happens', async () => {
    const net = await createTestController({ clock: 'live', model: NETWORK })
    onTestFinished(() => net.close())
    const page = await openInWebKit(`${await plainlyServed(net)}#/live`)
    await page.type('input[name=username]', 'admin')
    await page.type('input[name=password]', `admin-password\ue007`)
    const text = () => page.run('return document.body.innerText')
    await expect.poll(text, { timeout: 20_000 }).toContain('as it happens')
    await net.admin.call('POST /services', { body: { name: 'seen-in-webkit' } })
    await expect.poll(text, { timeout: 20_000 }).toContain('seen-in-webkit')
  }, 90_000)
})

describe.skipIf(!HAS_BROWSER)('Live', () => {
  afterAll(closeBrowser)

  it('says within half a minute that nothing is heard any more, and goes on by itself when there is', async () => {
    const outer = await freePort()
    const { net, url } = await serveExplorer({ model: NETWORK, address: `localhost:${outer}` })
    const between = await swallowing(outer, Number(new URL(url).port))
    const { page } = await openPage(`${url.replace(new URL(url).port, String(outer))}#/live`)
    await logIn(page)
    const state = page.locator('.live-state')
    await expect.poll(() => state.textContent()).toContain('as it happens')
    between.swallow()
    await expect.poll(() => state.textContent(), { timeout: 40_000 }).toContain('not heard from since')
    between.passOn()
    await expect.poll(() => state.textContent(), { timeout: 60_000 }).toContain('as it happens')
    await net.admin.call('POST /services', { body: { name: 'after-the-silence' } })
    await page.getByText('after-the-silence').first().waitFor()
  }, 150_000)

  it('comes to life when the controller does, though it was away when the view was opened', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(url)
    await logIn(page)
    await page
      .getByRole('link', { name: 'Log out' })
      .or(page.getByRole('button', { name: 'Log out' }))
      .waitFor()
    await page.route('**/portcullis/v1/events*', (route) => route.abort())
    await page.evaluate('location.hash = "#/live"')
    await page.getByText('The controller was not reached.').waitFor()
    await page.unroute('**/portcullis/v1/events*')
    await expect.poll(() => page.locator('.live-state').textContent(), { timeout: 20_000 }).toContain('as it happens')
    await expect.poll(() => page.getByText('The controller was not reached.').count(), { timeout: 5000 }).toBe(0)
  }, 60_000)

  it('says where events are missing', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/live`)
    await page.route('**/portcullis/v1/events', (route) =>
      route.request().headers().accept?.includes('event-stream')
        ? route.fulfill({ contentType: 'text/event-stream', body: 'retry: 3000\n\nevent: cut\ndata: {}\n\n' })
        : route.continue(),
    )
    await logIn(page)
    await page.getByText('Events before this are missing').first().waitFor()
  }, 60_000)
})
