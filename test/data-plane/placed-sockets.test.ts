// Internals: bytes are lost only where a peer reads slowly at the very end, which no process of another one can be made to do in time.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { expect, it } from 'vitest'
import { passOn } from '../../adapters/network/router/workers/placed-sockets.ts'
import { openDoor } from '../../adapters/network/router/workers/worker-door.ts'

const FACTS = { chain: [], localAddress: '127.0.0.1', remoteAddress: '127.0.0.1:1', remoteHost: '127.0.0.1' }

it('a peer whose socket is at another worker gets every byte before the end, however slowly it reads', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-door-'))
  const path = join(folder, 'door')
  const last = Buffer.alloc(200_000, 7)
  const door = await openDoor(path, (socket) => socket.resume().end(last))
  let taken = 0
  const peer = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) =>
      void setTimeout(() => {
        taken += bytes.length
        done()
      }, 5),
    final(done) {
      this.push(null)
      done()
    },
  })
  const closed = new Promise((resolve) => peer.once('close', resolve))
  await passOn(peer, path, { kind: 'endpoint', facts: FACTS })
  await closed
  expect(taken).toBe(last.length)
  door.close()
  await rm(folder, { recursive: true })
})
