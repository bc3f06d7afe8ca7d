import type { ServiceConnection } from 'portcullis/sdk'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ECHO_MODEL } from '../support/echo-model.ts'
import { withSharedPki } from '../support/shared-pki.ts'

/** A network in which `server` answers what it gets. */
async function echoing() {
  const net = await createTestController(await withSharedPki({ router: true as const, model: ECHO_MODEL }))
  onTestFinished(() => net.close())
  await net.as('server').host('echo', (connection: ServiceConnection) => {
    connection.on('error', () => undefined)
    connection.pipe(connection)
  })
  return net
}

/** The outcome of a promise so far. */
function followed<T>(promise: Promise<T>) {
  const outcome: { value?: T; error?: unknown; isSettled: boolean } = { isSettled: false }
  promise.then(
    (value) => Object.assign(outcome, { value, isSettled: true }),
    (error: unknown) => Object.assign(outcome, { error, isSettled: true }),
  )
  return outcome
}

/** The next bytes of a connection as text; rejects where it ends first. */
function nextText(connection: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    connection.once('data', (bytes: Uint8Array) => resolve(Buffer.from(bytes).toString()))
    connection.once('error', reject)
    connection.once('close', () => reject(new Error('closed')))
  })
}

describe('the network of a test', () => {
  it('cuts an endpoint from the router: its connections end, none opens, and after healing it dials again', async () => {
    const net = await echoing()
    const laptop = net.as('laptop')
    const connection = await laptop.dial('echo')
    connection.on('error', () => undefined)
    const ended = nextText(connection)
    net.network.cut('laptop', 'router')
    await expect(ended).rejects.toThrow()
    const dialed = followed(laptop.dial('echo'))
    await net.elapse(60_000)
    expect(dialed.error).toMatchObject({ name: 'ConnectionFailure' })
    net.network.heal('laptop', 'router')
    const healed = await laptop.dial('echo')
    const answer = nextText(healed)
    healed.write('again')
    expect(await answer).toBe('again')
  })

  it('lets a dial under way go on before time passes: its time-out is never over first', async () => {
    const net = await echoing()
    const laptop = net.as('laptop')
    const first = laptop.dial('echo', { timeoutMs: 5000 })
    await net.elapse(60_000)
    expect((await first).destroyed).toBe(false)
    const second = followed(laptop.dial('echo', { timeoutMs: 5000 }))
    await net.elapse(0)
    expect(second.isSettled).toBe(true)
  })

  it('delays what an endpoint and the router send to each other, in order and by the clock of the test', async () => {
    const net = await echoing()
    const connection = await net.as('laptop').dial('echo')
    net.network.delay('laptop', 'router', 200)
    const pieces: string[] = []
    connection.on('data', (bytes: Uint8Array) => pieces.push(Buffer.from(bytes).toString()))
    connection.write('one ')
    connection.write('two')
    await net.elapse(399)
    expect(pieces).toEqual([])
    const arrived = async () => {
      await net.elapse(1)
      return pieces.join('')
    }
    await expect.poll(arrived).toBe('one two')
    net.network.delay('laptop', 'router', 0)
    connection.write(' three')
    await expect.poll(() => pieces.join('')).toBe('one two three')
  })

  it('parts an endpoint from the router in silence: nothing arrives, nobody is told, and all of it arrives after healing', async () => {
    const net = await echoing()
    const connection = await net.as('laptop').dial('echo')
    net.network.partition('laptop', ['router'])
    const answer = followed(nextText(connection))
    connection.write('kept')
    await net.elapse(1000)
    expect(answer.isSettled).toBe(false)
    net.network.heal()
    await expect.poll(() => answer.value).toBe('kept')
  })

  it('cuts, delays and parts an endpoint from the controller', async () => {
    const net = await createTestController(await withSharedPki({ model: ECHO_MODEL }))
    onTestFinished(() => net.close())
    const laptop = await net.enroll('laptop')
    await laptop.call('GET /version')
    net.network.cut('laptop', 'controller')
    await expect(laptop.call('GET /version')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    net.network.heal('laptop', 'controller')
    net.network.delay(laptop.id, 'controller', 50)
    const delayed = followed(laptop.call('GET /version'))
    await net.elapse(99)
    expect(delayed.isSettled).toBe(false)
    const version = async () => {
      await net.elapse(1)
      return delayed.value?.data.version
    }
    await expect.poll(version).toBeDefined()
    net.network.partition('laptop', 'controller')
    const silent = followed(laptop.call('GET /version'))
    const left = followed(laptop.call('GET /version', { signal: AbortSignal.timeout(10) }))
    await net.elapse(60_000)
    await expect.poll(() => left.error).toMatchObject({ name: 'TimeoutError' })
    expect(silent.isSettled).toBe(false)
    net.network.cut('laptop', 'controller')
    await expect.poll(() => silent.error).toMatchObject({ cause: { code: 'ECONNRESET' } })
    // Others are not touched by it.
    expect((await net.as('server').call('GET /version')).data.version).toBeDefined()
  })

  it('cuts the router from the controller: what runs goes on, no dial succeeds, and after healing it connects again', async () => {
    const net = await echoing()
    const laptop = net.as('laptop')
    const connection = await laptop.dial('echo')
    net.network.cut('router', 'controller')
    const answer = nextText(connection)
    connection.write('carried')
    expect(await answer).toBe('carried')
    const dialed = followed(laptop.dial('echo'))
    await net.elapse(60_000)
    expect(dialed.error).toMatchObject({ name: 'ConnectionFailure' })
    net.network.heal()
    await net.elapse(10_000)
    // Behind its timer the router works in real time.
    await expect
      .poll(() =>
        laptop.dial('echo').then(
          () => 'connected',
          ({ code }) => code,
        ),
      )
      .toBe('connected')
  })

  it('refuses ends that are not there, and ends that nothing connects', async () => {
    const net = await echoing()
    net.as('laptop')
    expect(() => net.network.cut('latop', 'router')).toThrow(/there is no end 'latop' \(did you mean 'laptop'\?\)/)
    expect(() => net.network.cut('laptop', 'server')).toThrow(/nothing connects 'laptop' and 'server'/)
    expect(() => net.network.delay('laptop', 'router', -1)).toThrow(/milliseconds takes 0 or more, not -1/)
    const without = await createTestController(await withSharedPki())
    onTestFinished(() => without.close())
    expect(() => without.network.cut('controller', 'router')).toThrow(/there is no end 'router'/)
  })
})
