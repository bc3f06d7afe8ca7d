import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Identity, openIdentity } from 'portcullis/sdk'
import type { DeviceCertificate } from '../device.ts'
import type { Tick } from '../story.ts'
import type { ServedController } from './start-controller.ts'

/** A connection that goes on for as long as the laptop may reach the service. */
export interface OpenPage {
  readonly laptop: Identity
  /** Resolves when it stands still. Rejects after five seconds. */
  untilStill(): Promise<void>
  close(): Promise<void>
}

const TICK_MS = 50
/** Without a tick for longer, milliseconds, the connection stands still. */
const STILL_MS = 6 * TICK_MS
const PATIENCE_MS = 5000

/** The app of the company: a page, and a clock that never stops. It listens nowhere. */
const payroll: RequestListener = (request, response) => {
  if (request.url !== '/clock') {
    response.end(`salaries, for ${request.caller?.name}`)
    return
  }
  response.write('tick')
  const timer = setInterval(() => response.write('tick'), TICK_MS)
  response.once('close', () => clearInterval(timer))
}

/** Hosts the app in this process as one identity, and reads its page as the laptop, through the edge router and encrypted. */
export async function readPage(
  { url, ca, router }: ServedController,
  { cert, key }: DeviceCertificate,
  { service, host }: { readonly service: string; readonly host: string },
  tick: Tick,
): Promise<OpenPage> {
  const hosted = await router.as(host).host(service, payroll)
  tick(`${host} hosts ${service} with an app of this process, which listens on no port`)
  const id = { cert: `pem:${cert}`, key: `pem:${key}`, ca: `pem:${ca}` }
  const laptop = await openIdentity({ ztAPI: url, id })
  const page = await (await laptop.fetch(`http://${service}/`)).text()
  assert.equal(page, 'salaries, for laptop')
  tick(`the laptop read http://${service}/ through edge router ${router.name}, encrypted from end to end: "${page}"`)

  const { body } = await laptop.fetch(`http://${service}/clock`)
  let tickedAt = performance.now()
  const listen = async () => {
    for await (const _tick of body ?? []) tickedAt = performance.now()
  }
  // It ends by an error when the laptop loses the service.
  listen().catch(() => undefined)
  await sleep(2 * STILL_MS)
  assert.ok(performance.now() - tickedAt < STILL_MS, 'the clock does not tick')
  tick('a second connection stays open, on which a clock ticks')
  return {
    laptop,
    untilStill: async () => {
      const begun = performance.now()
      while (performance.now() - tickedAt < STILL_MS) {
        assert.ok(performance.now() - begun < PATIENCE_MS, 'the clock still ticks')
        await sleep(TICK_MS)
      }
    },
    close: async () => {
      await laptop.close()
      await hosted.close()
    },
  }
}
