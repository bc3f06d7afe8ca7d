import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { enroll, type Identity, type IdentityFile, type ServiceConnection } from 'portcullis/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { EDGE_TYPE } from '../../adapters/network/channel/edge-messages.ts'
import type { Frame } from '../../adapters/network/channel/frame.ts'
// Internals: the items by which another implementation would take part, which no entry point exports.
import { circuitTokenIn, DIRECT_HEADER, directOffer, partiesIn } from '../../src/proved-ends.ts'
import { type Hostility, identityVia } from '../support/hostile-way.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

const END = join(import.meta.dirname, 'other-hand.py')
const HAS_PYTHON = spawnSync('python3', ['-c', 'import ssl; assert ssl.HAS_TLSv1_3']).status === 0
if (!HAS_PYTHON)
  process.stdout.write('not met by another implementation of proved ends, because there is no Python 3\n')

let network: ServedNetwork
let folder: string
const files: Record<string, IdentityFile> = {}
const opened: Identity[] = []
const children: ChildProcess[] = []

beforeAll(async () => {
  network = await servedNetwork({ directE2EE: 'permissive' })
  folder = await mkdtemp(join(tmpdir(), 'portcullis-other-hand-'))
  files.laptop = await enroll(await network.invite('laptop', 'clients'))
  files.box = await enroll(await network.invite('box', 'hosts'))
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill()
  await Promise.all(opened.splice(0).map((identity) => identity.close()))
})
afterAll(async () => {
  await network.close()
  await rm(folder, { recursive: true })
})

const fileOf = (name: string): IdentityFile => files[name] ?? Object(undefined)
const pemOf = (value: string) => value.replace(/^pem:/, '')
const idOf = ({ id }: IdentityFile) =>
  /identity\/([^,/]+)/.exec(new X509Certificate(pemOf(id.cert)).subjectAltName ?? '')?.[1] ?? ''

/** The token of a circuit as an end got it, which the end itself never sees: its program takes no part in proofs. */
interface Heard {
  token?: string
}

/** An identity whose program knows nothing of proofs, while its router hears that it takes part. */
async function plainIdentity(name: string, heard: Heard): Promise<Identity> {
  const { mode, token } = DIRECT_HEADER
  const hostility: Hostility = {
    toRouter: (frame: Frame) => {
      if (frame.contentType !== EDGE_TYPE.connect && frame.contentType !== EDGE_TYPE.bind) return frame
      return { ...frame, headers: new Map([...frame.headers, directOffer()]) }
    },
    fromRouter: (frame: Frame) => {
      heard.token = circuitTokenIn(frame.headers) ?? heard.token ?? ''
      return { ...frame, headers: new Map([...frame.headers].filter(([key]) => key !== mode && key !== token)) }
    },
  }
  const identity = await identityVia(fileOf(name), hostility)
  opened.push(identity)
  return identity
}

function claimsOf(token: string | undefined): Readonly<Record<string, unknown>> {
  return Object(JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()))
}

/** Has the other implementation speak over a circuit; answers what it says of it at the end. */
async function otherHand(
  role: 'dialer' | 'host',
  name: string,
  circuit: Duplex,
  token: string | undefined,
  more: object = {},
): Promise<Record<string, unknown>> {
  const { id } = fileOf(name)
  const paths = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`), roots: join(folder, 'ca.pem') }
  await writeFile(paths.cert, pemOf(id.cert))
  await writeFile(paths.key, pemOf(id.key))
  await writeFile(paths.roots, pemOf(id.ca ?? ''))
  const claims = claimsOf(token)
  const answer = await network.net.fetch(new Request(`https://127.0.0.1:${network.server.port}/oidc/keys`))
  const issuers = [{ iss: `https://127.0.0.1:${network.server.port}/oidc`, ...Object(await answer.json()) }]
  const given = { role, token, circuitId: claims.z_cid, identityId: idOf(fileOf(name)), issuers, ...paths, ...more }
  const child = spawn('python3', [END], { stdio: 'pipe' })
  children.push(child)
  child.stdin.on('error', () => undefined).write(`${JSON.stringify(given)}\n`)
  circuit.on('error', () => undefined).pipe(child.stdin)
  child.stdout.pipe(circuit)
  return JSON.parse((await text(child.stderr)).trim())
}

const told = (connection: ServiceConnection) => {
  const { name, isProved } = connection.caller ?? {}
  connection.once('data', (piece: Buffer) => connection.end(`${name} ${isProved}: ${piece.toString()}`))
}

describe.skipIf(!HAS_PYTHON)('an end by another implementation', () => {
  it.each([[65_536], [1]])('dials, and reads %i bytes at once', async (readSize) => {
    const heard: Heard = {}
    const box = await network.open(fileOf('box'))
    await using _hosted = await box.host('plain', told, { proved: true })
    const laptop = await plainIdentity('laptop', heard)
    const said = await otherHand('dialer', 'laptop', await laptop.dial('plain'), heard.token, { readSize })
    expect(said).toMatchObject({
      result: { heard: 'laptop true: hello from another hand', peer: idOf(fileOf('box')), reused: false },
    })
  })

  it.each([[65_536], [1]])('hosts, and reads %i bytes at once', async (readSize) => {
    const heard: Heard = {}
    const box = await plainIdentity('box', heard)
    const ends: Promise<Record<string, unknown>>[] = []
    await using _hosted = await box.host('plain', (circuit: ServiceConnection) => {
      ends.push(otherHand('host', 'box', circuit, heard.token, { readSize }))
    })
    const laptop = await network.open(fileOf('laptop'))
    const connection = await laptop.dial('plain', { proved: true })
    expect(connection.provedPeer).toEqual({ id: idOf(fileOf('box')), name: 'box' })
    connection.end('hello from our hand')
    expect(await text(connection)).toBe('heard: hello from our hand')
    expect(await ends[0]).toMatchObject({
      result: { heard: 'hello from our hand', peer: idOf(fileOf('laptop')), reused: false },
    })
  })

  it('reveals nothing to an end of another circuit', async () => {
    const heard: Heard = {}
    const box = await network.open(fileOf('box'))
    await using _hosted = await box.host('plain', told, { proved: true })
    const laptop = await plainIdentity('laptop', heard)
    const first = await laptop.dial('plain')
    first.on('error', () => undefined)
    const earlier = heard.token
    const circuit = await laptop.dial('plain')
    expect(await otherHand('dialer', 'laptop', circuit, earlier)).toMatchObject({ error: expect.any(String) })
  })
  it('is named with its peer by a token, in whatever order', async () => {
    const heard: Heard = {}
    const box = await network.open(fileOf('box'))
    await using _hosted = await box.host('plain', told, { proved: true })
    const laptop = await plainIdentity('laptop', heard)
    const circuit = await laptop.dial('plain')
    circuit.on('error', () => undefined)
    const claims = claimsOf(heard.token)
    const parties = partiesIn(claims)
    expect(parties).toMatchObject({ dialer: { name: 'laptop' }, host: { name: 'box' } })
    const aud = Array.isArray(claims.aud) ? claims.aud : []
    expect(partiesIn({ ...claims, aud: aud.toReversed() })).toEqual(parties)
    for (const others of [aud.slice(1), [...aud, 'a third'], [aud[0], aud[0]], undefined]) {
      expect(partiesIn({ ...claims, aud: others })).toBe('its token is for others')
    }
  })
})
