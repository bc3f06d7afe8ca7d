import { once } from 'node:events'
import type { Identity, ServiceConnection } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

const MIB = 1024 * 1024
const SLOW = 6
const ECHOES = 100

/** Writes until nothing more is taken for a while; answers how much was taken, bytes. */
async function fill(connection: ServiceConnection, mostBytes: number): Promise<number> {
  const chunk = Buffer.alloc(MIB / 4, 7)
  let taken = 0
  while (taken < mostBytes) {
    const isTaken = new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), 400)
      connection.write(chunk, () => {
        clearTimeout(timer)
        resolve(true)
      })
    })
    if (!(await isTaken)) break
    taken += chunk.length
  }
  return taken
}

describe('readers that stand still', () => {
  let network: ServedNetwork
  let box: Identity
  let laptop: Identity

  beforeAll(async () => {
    network = await servedNetwork()
    box = await network.identity('box', 'hosts')
    laptop = await network.identity('laptop', 'clients')
  })

  afterAll(() => network.close())

  it('delay nobody on the same way to the router, and what waits for them is bounded', {
    timeout: 60_000,
  }, async () => {
    const silent: ServiceConnection[] = []
    await using _silent = await box.host('plain', (connection: ServiceConnection) => void silent.push(connection))
    await using _echo = await box.host('app', (connection: ServiceConnection) => void connection.pipe(connection))
    const before = process.memoryUsage()
    const slow = await Promise.all(Array.from({ length: SLOW }, () => laptop.dial('plain')))
    const quick = await laptop.dial('app')
    let longestMs = 0
    const echoing = (async () => {
      for (let echo = 0; echo < ECHOES; echo += 1) {
        const begun = performance.now()
        quick.write(`${echo}`)
        await once(quick, 'data')
        longestMs = Math.max(longestMs, performance.now() - begun)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    const taken = await Promise.all(slow.map((connection) => fill(connection, 40 * MIB)))
    await echoing
    const keptMib = (process.memoryUsage().arrayBuffers - before.arrayBuffers) / MIB
    const takenMib = taken.reduce((sum, bytes) => sum + bytes, 0) / MIB
    console.log(
      `${SLOW} readers stood still: ${takenMib.toFixed(0)} MiB were taken, ${keptMib.toFixed(0)} MiB are kept in the one process of` +
        ` both ends, controller and router; the longest of ${ECHOES} echoes beside them took ${longestMs.toFixed(0)} ms`,
    )
    // A window at either end and a megabyte in its stream, of 40 MiB that each was to take.
    for (const bytes of taken) expect(bytes).toBeLessThan(16 * MIB)
    expect(silent).toHaveLength(SLOW)
    // Both ends keep a window, and the router nothing.
    expect(keptMib).toBeLessThan(SLOW * 20)
    // They read on, and everything is there.
    const read = silent.map(async (connection) => {
      let bytes = 0
      for await (const piece of connection) bytes += piece.length
      return bytes
    })
    for (const connection of slow) connection.end()
    const received = await Promise.all(read)
    expect(received.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThanOrEqual(takenMib * MIB)
    for (const connection of [...slow, ...silent, quick]) connection.destroy()
  })
})
