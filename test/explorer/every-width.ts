import type { TestController } from 'portcullis/testing'
import type { DrivenPage } from '../support/driven-browser.ts'
import { NETWORK } from './network.ts'

/** An identity whose name breaks nowhere by itself, and with more role attributes than fit a row. */
const LONG = {
  name: `laptop-${'x'.repeat(60)}`,
  type: 'Device' as const,
  isAdmin: false,
  roleAttributes: Array.from({ length: 30 }, (_, n) => `attribute-${n}`),
}

/** More rows than a page of a table has. */
const MANY = Array.from({ length: 60 }, (_, n) => ({ ...LONG, name: `tablet-${n}`, roleAttributes: ['tablets'] }))

/** A network with something to see in every view, and with a name that is too long for any. */
export const WIDE_NETWORK = { ...NETWORK, identities: [...NETWORK.identities, LONG, ...MANY] }

/** Pixels of the window, as 200 % zoom shows them too: 1280 at 200 % is 640 wide and half as high. */
const SIZES = [
  [320, 720],
  [390, 844],
  [640, 450],
  [768, 1024],
  [1024, 768],
  [1280, 900],
  [1920, 1080],
  [2560, 1440],
] as const

/** Every view of that network, by its address. */
export async function everyPlace(net: TestController): Promise<readonly string[]> {
  const idOf = async (kind: 'identities' | 'services' | 'service-policies' | 'edge-routers', name: string) =>
    (await net.admin.call(`GET /${kind}`)).data.find((one) => one.name.includes(name))?.id ?? ''
  const [long, payroll] = [await idOf('identities', LONG.name), await idOf('services', 'payroll')]
  const check = (await net.admin.call('GET /posture-checks')).data[0]?.id ?? ''
  return [
    'start',
    'start?finding=services-without-terminators',
    'graph',
    'graph?as=policies',
    'graph?as=matrix',
    'graph?group=identities-0',
    `why?identity=${long}&service=${payroll}`,
    'what-if',
    `what-if?change=attributes&of=identities&id=${long}&add=staff`,
    'live',
    'changes',
    `manage?kind=identities&id=${long}`,
    'manage?kind=identities&new=true',
    'manage?kind=identities',
    'manage?kind=services',
    'json',
    'json?kind=service-policies&new=true',
    'json?kind=configs&new=true',
    'json?kind=webhooks&new=true',
    'account',
    `json?kind=identities&id=${long}`,
    `identity?id=${long}`,
    `service?id=${payroll}`,
    `policy?id=${await idOf('service-policies', 'staff-payroll')}`,
    `router?id=${await idOf('edge-routers', '')}`,
    `check?id=${check}`,
    'attribute?kind=identities&of=staff',
  ]
}

/**
 * The parts that are cut or scroll sideways, once the view stands: the document and its pictures, and controls that are out of sight or
 * whose words are. A table may scroll within its frame. A drawing gives way to a list some frames after the window changed.
 */
export const CUT = `
  const frame = () => new Promise((resolve) => setTimeout(resolve, 16))
  const isThere = () => document.querySelector('main h1') !== null && document.querySelector('main:not(.gallery) .skeleton') === null
  for (let left = 600; left > 0 && !isThere(); left -= 1) await frame()
  const scrolls = (one) => {
    for (let up = one.parentElement; up !== null; up = up.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(up).overflowX) && up.scrollWidth > up.clientWidth + 1) return true
    }
    return false
  }
  const isOutside = (one) => {
    const { left, right, width } = one.getBoundingClientRect()
    return width > 1 && one.checkVisibility() && (left < -1 || right > innerWidth + 1) && !one.matches('.skip') && !scrolls(one)
  }
  const isClipped = (one) => one.scrollWidth > one.clientWidth + 2 && getComputedStyle(one).overflowX !== 'visible'
  // Pages of a table are turned below it.
  const isCovering = (pager) => {
    const room = pager.parentElement?.querySelector('.table-room')
    const above = room && getComputedStyle(room).overflowY === 'visible' ? room.querySelector('table') : room
    return above !== null && above !== undefined && pager.getBoundingClientRect().top < above.getBoundingClientRect().bottom - 1
  }
  const look = () => [
    ...[...document.querySelectorAll('.pager')].filter(isCovering),
    ...[...document.querySelectorAll('a, button, input, select, textarea, summary')].filter(isOutside),
    ...[...document.querySelectorAll('button, .button')].filter(isClipped),
    ...[document.documentElement, document.querySelector('main'), ...document.querySelectorAll('figure')]
      .filter((one) => one !== null && one.scrollWidth > one.clientWidth + 1),
  ].map((one) => one.tagName + ' ' + (one.textContent ?? '').slice(0, 40))
  // A choice of columns opens within the window too.
  const turnMenus = (isOpen) => {
    for (const menu of document.querySelectorAll('details.menu')) menu.open = isOpen
  }
  turnMenus(true)
  let cut = look()
  for (let left = 60; left > 0 && cut.length > 0; left -= 1) {
    await frame()
    cut = look()
  }
  turnMenus(false)
  return cut`

/** Goes to every place at every size, and answers what is cut there. `saw` is told of each. */
export async function cutParts(
  { run, resize }: Pick<DrivenPage, 'run' | 'resize'>,
  places: readonly string[],
  saw: (place: string, width: number) => Promise<void> = async () => undefined,
): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for (const place of places) {
    await run(`location.hash = ${JSON.stringify(`#/${place}`)}`)
    for (const [width, height] of SIZES) {
      await resize(width, height)
      const cut = await run(CUT)
      if (!Array.isArray(cut) || cut.length > 0) found.push([place, width, cut])
      if ((await run('return innerWidth')) !== width) found.push([place, width, 'the page has another width'])
      await saw(place, width)
    }
  }
  return found
}
