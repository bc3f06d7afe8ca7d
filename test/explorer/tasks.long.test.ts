import { createTestController, type TestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillNetwork } from '../../bench/scale/network.ts'
import { BROWSERS, type DrivenPage } from '../support/driven-browser.ts'
import { plainlyServed } from '../support/plainly-served.ts'

const SIZES = [
  { identities: 5 },
  { identities: 500, rest: { services: 80, routers: 12, policies: [60, 13, 2] } },
  { identities: 10_000, rest: { services: 1000, routers: 60, policies: [300, 60, 20] } },
] as const

/** Fields and buttons as a reader finds them, by their words. */
const FINDS = `
  const words = (one) => (one.getAttribute('aria-label') ?? one.textContent ?? '').replace(/\\s+/g, ' ').trim()
  const isShown = (one) => one.getClientRects().length > 0
  const control = (text) => [...document.querySelectorAll('main :is(a, button, summary), a, button')].sort((a, b) => (b.closest('main') !== null) - (a.closest('main') !== null)).find((one) => isShown(one) && new RegExp(text).test(words(one)))
  const field = (text) => [...document.querySelectorAll('label')].filter((one) => isShown(one) && new RegExp('^' + text).test(words(one))).map((one) => one.control ?? one.querySelector('input, select')).find((one) => one)
  const until = async (find, what) => {
    for (let left = 600; left > 0; left -= 1) {
      const found = find()
      if (found) return found
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('not there: ' + what + '\\n' + document.querySelector('main').innerText.slice(0, 900))
  }
`

/** Does what a reader of the page does, and counts it: each click, and each field that is filled in. */
class Reader {
  acts = 0
  readonly took: string[] = []
  readonly #page: DrivenPage
  #begun = 0

  constructor(page: DrivenPage) {
    this.#page = page
  }

  async begin(): Promise<void> {
    await this.#page.run('location.hash = "#/start"')
    await this.#wait(`document.querySelector('.findings a')`, 'the findings')
    this.acts = 0
    this.#begun = performance.now()
  }

  async click(text: string): Promise<void> {
    this.acts += 1
    await this.#page.run(
      `${FINDS} (await until(() => control(${JSON.stringify(text)}), ${JSON.stringify(text)})).click()`,
    )
  }

  /** Fills a field in. With Enter it takes what the field finds, or sends the form. */
  async fill(label: string, text: string, { enters = false } = {}): Promise<void> {
    this.acts += 1
    await this.#page.run(`${FINDS}
      const input = await until(() => field(${JSON.stringify(label)}), ${JSON.stringify(label)})
      input.focus()
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, ${JSON.stringify(text)})
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
      if (${enters}) {
        await new Promise((resolve) => setTimeout(resolve, 0))
        input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
      }`)
  }

  /** The answer stands on the page. */
  async reads(text: string): Promise<void> {
    await this.#wait(`new RegExp(${JSON.stringify(text)}).test(document.body.innerText)`, text)
  }

  /** A field has got its value: what was found is taken. */
  async holds(label: string, text: string): Promise<void> {
    await this.#wait(`field(${JSON.stringify(label)})?.value === ${JSON.stringify(text)}`, text)
  }

  done(task: string): void {
    this.took.push(`${task}: ${this.acts} acts, ${((performance.now() - this.#begun) / 1000).toFixed(1)} s`)
  }

  async #wait(condition: string, what: string): Promise<void> {
    await this.#page.run(`${FINDS} await until(() => ${condition}, ${JSON.stringify(what)})`)
  }
}

async function networkOf({ identities, ...size }: (typeof SIZES)[number]): Promise<TestController> {
  const net = await createTestController({ clock: 'live' })
  onTestFinished(() => net.close())
  if ('rest' in size) {
    await fillNetwork(net.storage, { ...size.rest, identities })
    // These give everybody something, and everything somebody.
    for (const id of ['p0', 'p150', 'p30']) {
      await net.admin.call('DELETE /service-policies/{id}', { params: { id } }).catch(() => undefined)
    }
  }
  const device = (name: string, ...roleAttributes: string[]) => ({
    ...{ name, type: 'Device' as const, isAdmin: false, roleAttributes },
  })
  await net.seed({
    identities: [device('anna', 'newcomers'), device('ben', 'newcomers', 'accountants'), device('stray')],
    services: [{ name: 'payroll', roleAttributes: ['books'] }, { name: 'attic' }],
    servicePolicies: [
      { name: 'money', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#accountants'], serviceRoles: ['#books'] },
    ],
  })
  return net
}

/** The tasks of an operator, each begun at the overview. */
const TASKS: readonly (readonly [
  task: string,
  most: number,
  perform: (reader: Reader, net: TestController) => Promise<void>,
])[] = [
  [
    'why anna cannot reach payroll',
    3,
    async (reader) => {
      await reader.click('^Why$')
      await reader.fill('Identity', 'anna', { enters: true })
      await reader.holds('Identity', 'anna')
      await reader.fill('Service', 'payroll', { enters: true })
      await reader.reads("'anna' may not dial 'payroll'")
      await reader.reads("Give 'anna' the role attribute accountants")
    },
  ],
  [
    'who can reach payroll',
    1,
    async (reader) => {
      await reader.fill('Search', 'payroll', { enters: true })
      await reader.reads('Reached by: .*[\\s\\S]*ben')
    },
  ],
  [
    'what if newcomers were accountants',
    3,
    async (reader) => {
      await reader.click('^What if$')
      await reader.fill('Everybody who has', 'newcomers', { enters: true })
      await reader.fill('would be given', 'accountants', { enters: true })
      await reader.reads('anna[\\s\\S]*payroll')
    },
  ],
  [
    'who reaches nothing',
    1,
    async (reader) => {
      await reader.click('(identities reach|identity reaches) nothing')
      await reader.reads('(identities reach|identity reaches) nothing\\s+Overview[\\s\\S]*Let it reach')
    },
  ],
  [
    'what was changed, and by whom',
    1,
    async (reader) => {
      await reader.click('^what was changed, and by whom$')
      await reader.reads('Default Admin[\\s\\S]*money')
    },
  ],
  [
    'which device lost access, by which change',
    2,
    async (reader) => {
      await reader.click('^which change took access away$')
      await reader.click('^who lost or gained access by it$')
      await reader.reads('ben[\\s\\S]*payroll')
    },
  ],
  [
    'invite a laptop',
    5,
    async (reader) => {
      await reader.click('^Manage$')
      await reader.click('^New identity$')
      await reader.fill('Name', 'new-laptop')
      await reader.click('^Create$')
      await reader.click('^Show QR code and token$')
      await reader.reads('Copy token')
    },
  ],
  [
    'a router, with its token',
    4,
    async (reader) => {
      await reader.click('^Set up$')
      await reader.click('^New edge router$')
      await reader.fill('Name', 'new-router')
      await reader.click('^Create$')
      await reader.reads('Save new-router.jwt')
    },
  ],
  [
    'a service',
    4,
    async (reader) => {
      await reader.click('^Set up$')
      await reader.click('^New service$')
      await reader.fill('Name', 'new-service')
      await reader.click('^Create$')
      await reader.reads('Its page')
    },
  ],
  [
    'disable a lost laptop',
    4,
    async (reader) => {
      await reader.fill('Search', 'stray', { enters: true })
      await reader.reads('identity\\s+stray')
      await reader.reads('Reaches: ')
      await reader.click('^Manage$')
      await reader.click('^Disable')
      await reader.click('^Yes')
      await reader.reads('disabled')
    },
  ],
]

describe.each(BROWSERS)('an operator in $name', ({ isHere, open, name }) => {
  it.skipIf(!isHere).each(SIZES)(
    'does each task in few acts, with $identities identities',
    async (size) => {
      const net = await networkOf(size)
      const page = await open()
      await page.resize(1280, 900)
      await page.goTo(await plainlyServed(net))
      const reader = new Reader(page)
      onTestFinished(() => void process.stdout.write(`${name}, ${size.identities}: ${reader.took.join('; ')}\n`))
      await reader.fill('Username', 'admin')
      await reader.fill('Password', 'admin-password')
      await reader.click('^Log in$')
      const [money] = (await net.admin.call('GET /service-policies', { query: { filter: 'name = "money"' } })).data
      for (const [task, most, perform] of TASKS) {
        if (task.startsWith('what was changed')) {
          const params = { id: money?.id ?? '' }
          await net.admin.call('PATCH /service-policies/{id}', { params, body: { serviceRoles: ['#elsewhere'] } })
        }
        await reader.begin()
        await perform(reader, net)
        expect([task, reader.acts]).toEqual([task, most])
        reader.done(task)
      }
    },
    300_000,
  )
})
