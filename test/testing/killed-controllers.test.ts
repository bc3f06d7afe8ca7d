import type { ServiceConnection } from 'portcullis/sdk'
import { createTestController, TEST_ADMIN, type TestControllerOptions } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ECHO_MODEL } from '../support/echo-model.ts'
import { withSharedPki } from '../support/shared-pki.ts'

async function network<O extends TestControllerOptions>(options: O) {
  const net = await createTestController(await withSharedPki(options))
  onTestFinished(() => net.close())
  return net
}

/** Two controllers, and a host at their router that answers what it gets. */
async function echoing() {
  const options = await withSharedPki({ router: true as const, controllers: 2, model: ECHO_MODEL })
  const net = await createTestController(options)
  onTestFinished(() => net.close())
  await net.as('server').host('echo', (connection: ServiceConnection) => {
    connection.on('error', () => undefined)
    connection.pipe(connection)
  })
  return net
}

type Echoing = Awaited<ReturnType<typeof echoing>>

async function answerTo(connection: ServiceConnection, text: string): Promise<string> {
  const answer = new Promise<string>((resolve, reject) => {
    connection.once('data', (bytes: Uint8Array) => resolve(Buffer.from(bytes).toString()))
    connection.once('error', reject)
    connection.once('close', () => reject(new Error('closed')))
  })
  connection.write(text)
  return answer
}

/** The answer to a new dial, while time passes; undefined where it does not succeed. */
async function dialed(net: Echoing, text: string): Promise<string | undefined> {
  let isOver = false
  const dial = net
    .as('laptop')
    .dial('echo', { timeoutMs: 5000 })
    .catch(() => undefined)
    .finally(() => {
      isOver = true
    })
  // Another process hears of a login within two seconds.
  while (!isOver) await net.elapse(100)
  const connection = await dial
  const answer = connection && (await answerTo(connection, text))
  connection?.destroy()
  return answer
}

describe('a controller of a test', () => {
  it('is killed: its router fails over, hosts go on, streams are carried on, and what was acknowledged is there', async () => {
    const net = await echoing()
    const stream = await net.as('laptop').dial('echo')
    await net.admin.call('POST /services', { body: { name: 'written' } })
    net.kill('controller')
    expect(await answerTo(stream, 'carried on')).toBe('carried on')
    await net.elapse(2000)
    // Behind its timer the router connects in real time.
    await expect.poll(() => dialed(net, 'by the second')).toBe('by the second')
    const services = (await net.admin.call('GET /services')).data.map(({ name }) => name)
    expect(services).toContain('written')
    // A minute is longer than routers, hosts and processes are waited for.
    await net.elapse(60_000)
    expect(await answerTo(stream, 'still')).toBe('still')
    expect(await dialed(net, 'and later')).toBe('and later')
  })

  it('is started again over the same storage, and the other one is killed: every change of both is there', async () => {
    const net = await echoing()
    net.kill('controller')
    await net.elapse(2000)
    await net.admin.call('POST /services', { body: { name: 'of the second' } })
    await net.restart('controller')
    await net.admin.call('POST /services', { body: { name: 'of the first' } })
    net.kill('controller-2')
    await net.elapse(2000)
    await expect.poll(() => dialed(net, 'back')).toBe('back')
    const services = (await net.admin.call('GET /services')).data.map(({ name }) => name)
    expect(services).toEqual(expect.arrayContaining(['of the first', 'of the second']))
    expect(new Set(services).size).toBe(services.length)
  })

  it('loses a change without an answer with its process, and all of it', async () => {
    const net = await network({ controllers: 2, model: ECHO_MODEL })
    net.faults.next({ delayMs: 50 }, 'POST /services')
    const asked = net.admin.call('POST /services', { body: { name: 'never' } })
    const outcome = asked.catch((error) => error.cause?.code)
    // The administrator logs in first.
    await expect.poll(() => net.requests.at(-1)?.route).toBe('POST /services')
    net.kill('controller')
    await net.elapse(100)
    expect(await outcome).toBe('ECONNRESET')
    expect((await net.admin.call('GET /services')).data.map(({ name }) => name)).toEqual(['echo'])
  })

  it('has events of whichever controller runs, once each', async () => {
    const net = await network({ controllers: 2 })
    const names: string[] = []
    net.events.on('entity.changed', ({ kind }) => void names.push(kind))
    const create = (name: string) => net.admin.call('POST /services', { body: { name } })
    await create('one')
    net.kill('controller')
    await create('two')
    await net.restart('controller')
    await create('three')
    expect(names.filter((kind) => kind === 'services')).toHaveLength(3)
  })

  it('is reached by no one when none runs, and time passes', async () => {
    const net = await network({ model: ECHO_MODEL })
    await net.as('laptop').call('GET /version')
    net.kill('controller')
    await expect(net.as('laptop').call('GET /version')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    expect(() => net.engine).toThrow('no controller runs')
    await net.elapse(3_600_000)
    await net.restart('controller')
    expect((await net.as('laptop').call('GET /version')).data.version).toBeDefined()
  })

  it('is cut off from the router, which goes on by the other one', async () => {
    const net = await echoing()
    net.network.cut('router', 'controller')
    await net.elapse(2000)
    await expect.poll(() => dialed(net, 'around')).toBe('around')
  })

  it('is cut off from the other one, and knows its circuits again after healing', async () => {
    const net = await echoing()
    net.network.cut('router', 'controller')
    await net.elapse(2000)
    await expect.poll(() => dialed(net, 'around')).toBe('around')
    const stream = await net.as('laptop').dial('echo')
    const { token } = (
      await net.management.call('POST /authenticate', { query: { method: 'password' }, body: TEST_ADMIN })
    ).data
    const known = async () => {
      await net.elapse(1000)
      const headers = { 'zt-session': token }
      const answer = await net.fetch(new Request('https://controller.test:1280/fabric/v1/circuits', { headers }))
      return Object(await answer.json()).data.length
    }
    await expect.poll(known).toBe(1)
    net.network.cut('controller', 'controller-2')
    await expect.poll(known).toBe(0)
    net.network.heal('controller', 'controller-2')
    await expect.poll(known).toBe(1)
    expect(await answerTo(stream, 'all the while')).toBe('all the while')
  })

  it('is named, and runs or does not: everything else is refused', async () => {
    const net = await network({ controllers: 2 })
    expect(() => net.kill('controler')).toThrow(/no controller 'controler'.*did you mean.*controller/)
    await expect(net.restart('controller')).rejects.toThrow("'controller' runs; kill it first")
    net.kill('controller-2')
    expect(() => net.kill('controller-2')).toThrow("'controller-2' does not run")
    await expect(createTestController({ controllers: 0 })).rejects.toThrow('controllers takes 1 or more, not 0')
  })

  it('is not killed under routers that it took on a socket', async () => {
    const net = await network({ controllers: 2 })
    await net.listen({ fabric: true })
    expect(() => net.kill('controller')).toThrow('listen({ fabric: true })')
  })
})
