import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { findZiti } from '../../examples/traffic/ziti.ts'
import { type DeployedRouter, LinkedNetwork, until } from '../support/linked-network.ts'

const ziti = findZiti()
const MINUTE = 60_000

if (ziti === undefined) {
  console.warn(
    'SKIPPED: no real router is set up by configs, because there is no `ziti` on the path and ZITI names none',
  )
}

let network: LinkedNetwork
let fixed: DeployedRouter
let managed: DeployedRouter
let ports: readonly number[] = []

/** Where a router says that it listens for links. */
async function listenersOf({ id }: DeployedRouter): Promise<readonly string[]> {
  const { listenerAddresses } = await network.admin.call('GET', `/fabric/v1/routers/${id}`)
  return Object.values(Object(listenerAddresses)).map((listener) => String(Object(listener).address))
}

/** The number of differences between the model of a router and the store. */
async function differencesOf({ id }: DeployedRouter): Promise<unknown> {
  return (await network.admin.call('POST', `/portcullis/v1/routers/${id}/validate-data-model`)).differenceCount
}

const listening = (port: number) => ({
  listeners: [{ binding: 'transport', bind: `tls:127.0.0.1:${port}`, advertise: `tls:127.0.0.1:${port}` }],
  dialers: [{ binding: 'transport' }],
})

/** Whether the program takes configs of its controller: the lines before 2.1 know nothing of them. */
async function takesConfigs({ id }: DeployedRouter): Promise<boolean> {
  const { capabilities } = await network.admin.call('GET', `/edge-routers/${id}`)
  return Array.isArray(capabilities) && capabilities.includes('CONNECT_V2')
}

describe.skipIf(ziti === undefined)('a real router that is set up by its controller', () => {
  beforeAll(async () => {
    network = await LinkedNetwork.open(ziti ?? '')
    ports = await freePorts(2)
    fixed = await network.deployed('fixed', 'both')
    managed = await network.deployed('managed', 'both')
    const file = `${network.file('managed')}.yml`
    const whole = await readFile(file, 'utf8')
    // Its own settings of links would count before those of the controller.
    const own = whole.replace(/^link:\n(?: .*\n)+/m, '')
    await writeFile(file, `${own}managedConfig:\n  allow: [all]\n`)
    managed.process.kill('SIGKILL')
    await until(async () => (await network.admin.call('GET', `/edge-routers/${managed.id}`)).isOnline, false, MINUTE)
    managed.restart()
    await network.untilOnline(managed.id)
  }, 3 * MINUTE)

  afterAll(async () => network?.close())

  it('listens and dials as its config says, as long as it names one', { timeout: 5 * MINUTE }, async (test) => {
    if (!(await takesConfigs(managed))) test.skip()
    const { admin } = network
    const [first = 0, second = 0] = ports
    await until(() => network.links(), [], MINUTE)
    const config = await admin.create('/configs', {
      name: 'links',
      configTypeId: 'router.link.v1',
      data: listening(first),
    })
    await admin.call('PATCH', `/edge-routers/${managed.id}`, { configs: [config] })
    await until(() => listenersOf(managed), [`tls:127.0.0.1:${first}`], MINUTE)
    await until(async () => (await network.links()).length > 0, true, MINUTE)
    await until(() => differencesOf(managed), 0, MINUTE)
    await admin.call('PATCH', `/configs/${config}`, { data: listening(second) })
    await until(() => listenersOf(managed), [`tls:127.0.0.1:${second}`], MINUTE)
    await until(async () => (await network.links()).length > 0, true, 2 * MINUTE)
    await admin.call('PATCH', `/edge-routers/${managed.id}`, { configs: [] })
    await until(() => listenersOf(managed), [], MINUTE)
    await until(() => differencesOf(managed), 0, MINUTE)
    expect(await differencesOf(fixed)).toBe(0)
  })
})
