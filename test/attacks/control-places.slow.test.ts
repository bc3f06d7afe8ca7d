import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { connect, createServer } from 'node:tls'
import { type ControlListener, openControlListener, routerSide } from 'portcullis/fabric'
import { peerCertificates, tlsOptions } from 'portcullis/node'
import { bodyOf, createTestController, FakeRouter } from 'portcullis/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { fabricWorld } from '../fabric/control/fabric-world.ts'
import { issue } from '../support/https-certificates.ts'
import { adminToken, enrollTlsRouter, overTls } from '../support/tls-router.ts'

const ATTACKER = '127.0.0.2'
/** More than all places together. */
const SOCKETS = 700

/** Opens sockets at the listener and says nothing on them. Answers those that are still open. */
function occupy(listener: ControlListener, chain: readonly Uint8Array[], remoteAddress: string, count: number) {
  const sockets = Array.from({ length: count }, () => {
    const [own, theirs] = duplexPair()
    theirs.once('close', () => own.destroy())
    listener.accept(theirs, chain, remoteAddress)
    return own
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  return () => sockets.filter(({ destroyed }) => !destroyed).length
}

it('sockets of one address that say nothing keep no router of another address out, however many they are', async () => {
  const world = await fabricWorld()
  const { der } = await issue('nobody')
  const enrolled = await world.enroll('r1')
  const open = occupy(world.listener, [der], ATTACKER, SOCKETS)
  expect(await new FakeRouter(enrolled, world.listener).connect()).toMatchObject({ accepted: true })
  // One address has half of the places at most.
  await vi.waitFor(() => expect(open()).toBe(256))
})

it('sockets of many addresses that say nothing keep no router out either: the longest unknown makes room', async () => {
  const world = await fabricWorld()
  const { der } = await issue('nobody')
  const enrolled = await world.enroll('r1')
  const held = Array.from({ length: SOCKETS }, (_, at) =>
    occupy(world.listener, [der], `10.0.${at >> 8}.${at & 255}`, 1),
  )
  expect(await new FakeRouter(enrolled, world.listener).connect()).toMatchObject({ accepted: true })
  await vi.waitFor(() => expect(held.reduce((sum, open) => sum + open(), 0)).toBeLessThanOrEqual(512))
  // Those that came last are still waited for.
  expect(held.at(-1)?.()).toBe(1)
})

it('a socket without a certificate is closed before it says anything, and learns why', async () => {
  const world = await fabricWorld()
  const [own, theirs] = duplexPair()
  world.listener.accept(theirs, [], '127.0.0.1')
  const reader = new routerSide.FrameReader({ headers: 1000, body: 1000 })
  const [bytes] = await once(own, 'data')
  const [frame] = reader.push(bytes)
  expect(frame && new TextDecoder().decode(bodyOf(frame))).toBe('no-certificate')
  if (!theirs.destroyed) await once(theirs, 'close')
})

it('an address that opens hundreds of sockets over TLS keeps no router of another address out', async () => {
  const controller = await createTestController()
  // They would have the time to fill every place, however slow this machine is.
  const patient = { addresses: ['tls:controller.test:6262'], helloTimeoutMs: 120_000 }
  const listener = await openControlListener(controller, patient)
  const server = createServer(tlsOptions(await controller.tls(), ['ziti-ctrl']), (socket) => {
    listener.accept(socket, peerCertificates(socket) ?? [], socket.remoteAddress)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address())
  const router = await enrollTlsRouter(controller, await adminToken(controller), 'r1')
  const { key, cert } = await issue('nobody')
  const strange = { port, localAddress: ATTACKER, key, cert, rejectUnauthorized: false }
  let opened = 0
  const attack = async () => {
    while (opened < SOCKETS) {
      opened += 1
      const socket = connect(strange).on('error', () => undefined)
      onTestFinished(() => void socket.destroy())
      await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')])
    }
  }
  await Promise.all(Array.from({ length: 16 }, attack))
  const fake = new FakeRouter(router, overTls(port, router))
  expect(await fake.connect()).toMatchObject({ accepted: true })
  server.close()
  await listener.close()
}, 120_000)
