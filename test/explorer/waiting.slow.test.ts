import { afterAll, describe, expect, it } from 'vitest'
import { closeBrowser, HAS_BROWSER, logIn, openPage, serveExplorer } from '../support/explorer.ts'
import { NETWORK } from './network.ts'

describe.skipIf(!HAS_BROWSER)('a picture that is slow, or fails', () => {
  afterAll(closeBrowser)

  it('says that it is being read, where it will stand, and shows it then', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/changes`)
    await logIn(page)
    await page.locator('.audit li').first().waitFor()
    let letThrough: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      letThrough = resolve
    })
    await page.route('**/access-map?**', async (route) => {
      await held
      await route.continue()
    })
    await page.evaluate('location.hash = "#/graph"')
    const word = page.locator('.map-frame').getByText('Reading…')
    await word.waitFor()
    const opacity = () => page.evaluate<string>("getComputedStyle(document.querySelector('.skeleton')).opacity")
    await expect.poll(opacity, { timeout: 10_000 }).toBe('1')
    letThrough()
    await page.locator('.map .group').first().waitFor()
    expect(await word.count()).toBe(0)
  }, 60_000)

  it('says what went wrong in a card of its own height, and reads it again when it is asked to', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/changes`)
    await logIn(page)
    await page.locator('.audit li').first().waitFor()
    await page.route('**/access-map?**', (route) => route.abort())
    await page.evaluate('location.hash = "#/graph"')
    const problem = page.locator('.map-frame').getByRole('alert')
    await problem.waitFor()
    expect((await problem.boundingBox())?.height).toBeLessThan(80)
    await page.unroute('**/access-map?**')
    await problem.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.map .group').first().waitFor()
  }, 60_000)

  it.each([
    ['why', '**/explain', ".why-body [role='status']"],
    ['manage?kind=identities', '**/identities?**', '.list td a'],
    ['json?kind=services', '**/services?**', '.list td a'],
    ['changes', '**/audit?**', '.audit li'],
  ])(
    'is answered by itself once the controller is there again: %s',
    async (view, request, result) => {
      const { net, url } = await serveExplorer({ model: NETWORK })
      const [identity] = (await net.admin.call('GET /identities', { query: { filter: 'name = "laptop"' } })).data
      const [service] = (await net.admin.call('GET /services', { query: { filter: 'name = "wiki"' } })).data
      const { page } = await openPage(url)
      await logIn(page)
      await page.locator('.findings a').first().waitFor()
      await page.route(request, (route) => route.abort())
      const about = view === 'why' ? `?identity=${identity?.id}&service=${service?.id}` : ''
      await page.evaluate(`location.hash = "#/${view}${about}"`)
      const problem = page.locator('main').getByRole('alert').filter({ hasText: 'The controller was not reached.' })
      await problem.getByRole('button', { name: 'Try again' }).waitFor()
      await page.unroute(request)
      await page.locator(result).first().waitFor({ timeout: 10_000 })
      expect(await problem.count()).toBe(0)
    },
    60_000,
  )

  it('may be asked for again where a link to a trial was not answered', async () => {
    const { net, url } = await serveExplorer({ model: NETWORK })
    const [identity] = (await net.admin.call('GET /identities', { query: { filter: 'name = "laptop"' } })).data
    const { page } = await openPage(url)
    await logIn(page)
    await page.locator('.findings a').first().waitFor()
    await page.route('**/identities/*', (route) => route.abort())
    await page.evaluate(`location.hash = "#/what-if?change=attributes&of=identities&id=${identity?.id}&add=hosts"`)
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute('**/identities/*')
    await again.click()
    await page.getByRole('heading', { name: 'Identity laptop' }).waitFor()
    await page.getByRole('button', { name: 'Take #hosts away' }).waitFor()
  }, 60_000)

  it('keeps the letters that are typed right behind Enter', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/what-if?change=empty-policy`)
    await logIn(page)
    const field = page.getByRole('combobox', { name: 'Service roles' })
    await field.fill('#internal')
    await page.locator('[role=listbox]:not([hidden]) [role=option]').first().waitFor()
    await page.evaluate(TYPE_BEHIND_ENTER)
    await page.getByRole('option', { name: /confidential/ }).waitFor()
    expect(await field.inputValue()).toBe('#confi')
    await page.getByRole('button', { name: /#internal/ }).waitFor()
  }, 60_000)

  it('keeps what each of two fields was given whose answers come together', async () => {
    const { url } = await serveExplorer({ model: NETWORK })
    const { page } = await openPage(`${url}#/why`)
    await logIn(page)
    const giveTogether = async (fields: Readonly<Record<string, string>>) => {
      const held: (() => Promise<void>)[] = []
      await page.route('**/search?**', (route) => {
        held.push(() => route.continue())
      })
      for (const [name, text] of Object.entries(fields)) {
        await page.getByRole('combobox', { name, exact: true }).fill(text)
        await page.keyboard.press('Enter')
      }
      await expect.poll(() => held.length).toBe(Object.keys(fields).length)
      // Nothing is drawn between the answers, as it is where a machine is busy.
      await page.evaluate(HOLD_DRAWING)
      await Promise.all(held.map((letThrough) => letThrough()))
      await page.unroute('**/search?**')
    }
    await giveTogether({ Identity: 'laptop', Service: 'wiki' })
    await page.getByText("'laptop' may dial 'wiki'").first().waitFor()

    await page.evaluate('location.hash = "#/what-if"')
    await page.getByRole('button', { name: 'New policy' }).click()
    await giveTogether({ 'Identity roles': 'visitors', 'Service roles': 'internal' })
    for (const [label, chip] of [
      ['Identity roles', '#visitors'],
      ['Service roles', '#internal'],
    ] as const) {
      await page.getByRole('list', { name: label }).getByText(chip).waitFor()
    }
    await giveTogether({ Identity: 'laptop', Service: 'wiki' })
    await page.getByText("'laptop' may dial 'wiki'").first().waitFor()
  }, 60_000)
})

/** Holds what is drawn, and what follows it, until both answers are there: browsers let it wait while they are busy. */
const HOLD_DRAWING = `{
  const draw = window.requestAnimationFrame
  window.requestAnimationFrame = (callback) => setTimeout(() => draw(callback), 500)
  setTimeout(() => { window.requestAnimationFrame = draw }, 400)
}`

/** Types in the next turn of the page, as a fast typist or a busy machine has it: a driver is slower. */
const TYPE_BEHIND_ENTER = `(async () => {
  const input = document.activeElement
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
  await new Promise((resolve) => setTimeout(resolve, 0))
  input.value = '#confi'
  input.dispatchEvent(new InputEvent('input', { bubbles: true }))
})()`
