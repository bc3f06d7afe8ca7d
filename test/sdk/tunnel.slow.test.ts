import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../examples/traffic/web.ts'
import { endAll, portcullis } from '../adapters/cli/cli-process.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let cwd: string

beforeAll(async () => {
  network = await servedNetwork()
  cwd = await mkdtemp(join(tmpdir(), 'portcullis-tunnel-'))
  for (const [name, role] of [
    ['laptop', 'clients'],
    ['box', 'hosts'],
  ] as const) {
    await writeFile(join(cwd, `${name}.jwt`), await network.invite(name, role))
  }
})

afterAll(async () => {
  endAll()
  await network.close()
  await rm(cwd, { recursive: true, force: true, maxRetries: 10 })
})

describe('portcullis tunnel', () => {
  it('enrolls two identities, hosts a server by one and reaches it by the other, half closed too', async () => {
    for (const name of ['laptop', 'box']) {
      const { code, stdout } = await portcullis(['tunnel', 'enroll', `${name}.jwt`], { cwd }).ended
      expect([code, stdout]).toEqual([0, `the identity is in ${name}.json\n`])
      expect((await stat(join(cwd, `${name}.json`))).mode & 0o777).toBe(0o600)
    }
    const server = createServer((request, response) => void request.pipe(response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const behind = server.address()
    const behindPort = typeof behind === 'object' && behind !== null ? behind.port : 0
    const [port = 0] = await freePorts(1)
    const host = portcullis(['tunnel', 'host', '--identity', 'box.json', `app=127.0.0.1:${behindPort}`], { cwd })
    expect(await host.ready).toBe(`app is answered by 127.0.0.1:${behindPort}`)
    const proxy = portcullis(['tunnel', 'proxy', '--identity', 'laptop.json', `app:${port}`], { cwd })
    expect(await proxy.ready).toBe(`app is at 127.0.0.1:${port}`)

    const body = 'x'.repeat(2_000_000)
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
    expect((await answer.text()) === body).toBe(true)
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.end('POST / HTTP/1.1\r\nhost: app\r\nconnection: close\r\ncontent-length: 4\r\n\r\nsent')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*sent/s)

    for (const running of [proxy, host]) {
      running.kill('SIGTERM')
      expect((await running.ended).code).toBe(0)
    }
    server.close()
    server.closeAllConnections()
  }, 60_000)

  it('does not write over an identity, whose key is nowhere else', async () => {
    await writeFile(join(cwd, 'kept.jwt'), await network.invite('kept', 'clients'))
    await writeFile(join(cwd, 'kept.json'), 'kept')
    const { code, stderr } = await portcullis(['tunnel', 'enroll', 'kept.jwt'], { cwd }).ended
    expect([code, stderr]).toEqual([2, expect.stringContaining("'kept.json' is there already")])
    expect(await readFile(join(cwd, 'kept.json'), 'utf8')).toBe('kept')
  }, 30_000)

  it.each([
    [['tunnel', 'proxy', 'app:8080'], '--identity FILE'],
    [['tunnel', 'proxy', '--identity', 'nothing.json', 'app:8080'], 'portcullis tunnel enroll writes one'],
    [['tunnel', 'proxy', '--identity', 'kept.json', 'app'], 'SERVICE:PORT'],
    [['tunnel', 'host', '--identity', 'kept.json', 'app:80'], 'SERVICE=HOST:PORT'],
    [['tunnel', 'enroll'], 'one file'],
  ])(
    'says what is wrong with %j',
    async (args, words) => {
      const { code, stderr } = await portcullis(args, { cwd }).ended
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
    },
    30_000,
  )
})
