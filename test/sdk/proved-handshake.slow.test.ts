import { X509Certificate } from 'node:crypto'
import { connect, createServer } from 'node:tls'
import { enroll, type IdentityFile } from 'portcullis/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processTimer, type Timer } from '../../adapters/network/channel/conversation.ts'
import { readIdentity } from '../../adapters/network/sdk/identity-file.ts'
import { type DirectCredentials, directCredentials, proveEnds } from '../../adapters/network/sdk/proved/tls-ends.ts'
import { type Line, ServiceConnection } from '../../adapters/network/sdk/service-connection.ts'
import { type ServedNetwork, servedNetwork } from './served-network.ts'

let network: ServedNetwork
let elsewhere: ServedNetwork
let laptop: DirectCredentials
let box: DirectCredentials
let mallory: DirectCredentials
let stranger: DirectCredentials

async function credentialsOf(file: IdentityFile): Promise<DirectCredentials> {
  const own = directCredentials((await readIdentity(file)).credentials)
  if (typeof own === 'string') throw new Error(own)
  return own
}

beforeAll(async () => {
  network = await servedNetwork({ directE2EE: 'permissive' })
  // Authorities of its own.
  elsewhere = await servedNetwork({ directE2EE: 'permissive', trustDomain: 'portcullis.internal' })
  const enrolled = async ({ invite }: ServedNetwork, name: string) =>
    credentialsOf(await enroll(await invite(name, 'clients')))
  laptop = await enrolled(network, 'laptop')
  box = await enrolled(network, 'box')
  mallory = await enrolled(network, 'mallory')
  stranger = await enrolled(elsewhere, 'stranger')
})

afterAll(() => Promise.all([network.close(), elsewhere.close()]))

/** Two carriers that bring each other what is written, and the bytes that passed. */
function carriers() {
  const sent: Record<'dialer' | 'host', Buffer[]> = { dialer: [], host: [] }
  const ends: ServiceConnection[] = []
  const line = (role: 'dialer' | 'host', other: number): Line => ({
    send: (body, flags) => {
      sent[role].push(Buffer.from(body))
      queueMicrotask(() => ends[other]?.arrived(body, flags))
      return true
    },
    whenWritable: (work) => queueMicrotask(work),
    hold: () => undefined,
    release: () => undefined,
    close: () => queueMicrotask(() => ends[other]?.over()),
  })
  const [dialer, host] = [
    new ServiceConnection(line('dialer', 1), 'wiki'),
    new ServiceConnection(line('host', 0), 'wiki'),
  ]
  ends.push(dialer, host)
  const facts = {
    service: 'wiki',
    caller: undefined,
    applicationData: new Uint8Array(),
    circuitId: '',
    isEncrypted: false,
  }
  for (const end of ends) end.on('error', () => undefined).begin(facts, undefined)
  return { dialer, host, sent }
}

const partyOf = ({ identityId: id, cert }: DirectCredentials) => ({ id, name: id, fingerprints: [fingerprintOf(cert)] })
const fingerprintOf = (cert: string) => new X509Certificate(cert).fingerprint.replaceAll(':', '').toLowerCase()

interface Meeting {
  readonly dialer?: DirectCredentials
  readonly host?: DirectCredentials
  readonly circuits?: readonly [string, string]
}

/** The two ends that expect each other to be laptop and box. */
async function meet({ dialer = laptop, host = box, circuits = ['one', 'one'] }: Meeting) {
  const between = carriers()
  const ends = await Promise.allSettled([
    proveEnds(between.dialer, dialer, { role: 'dialer', circuitId: circuits[0], peer: partyOf(box) }, processTimer),
    proveEnds(between.host, host, { role: 'host', circuitId: circuits[1], peer: partyOf(laptop) }, processTimer),
  ])
  const [atDialer, atHost] = ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason)))
  return { atDialer, atHost, ...between }
}

/** The extensions of the hello of TLS that some bytes begin with. */
function extensionsOf(bytes: Buffer, type: 'client' | 'server'): ReadonlyMap<number, Buffer> {
  let at = 5 + 4 + 2 + 32
  at += 1 + (bytes[at] ?? 0)
  at += type === 'client' ? 2 + bytes.readUInt16BE(at) : 2
  at += type === 'client' ? 1 + (bytes[at] ?? 0) : 1
  const end = at + 2 + bytes.readUInt16BE(at)
  const found = new Map<number, Buffer>()
  for (at += 2; at < end; at += 4 + bytes.readUInt16BE(at + 2)) {
    found.set(bytes.readUInt16BE(at), bytes.subarray(at + 4, at + 4 + bytes.readUInt16BE(at + 2)))
  }
  return found
}

const [X25519, X25519MLKEM768] = [0x001d, 0x11ec]
const hasPostQuantum = Number(process.versions.openssl.split('.').slice(0, 2).join('.')) >= 3.5

describe('the handshake between two ends', () => {
  it('is one of TLS 1.3 for the one circuit, with the certificates of both, and none that can be resumed', async () => {
    const { atDialer, atHost, sent } = await meet({ circuits: ['a circuit', 'a circuit'] })
    if (typeof atDialer !== 'object' || typeof atHost !== 'object') throw new Error(`${atDialer} ${atHost}`)
    for (const { tls } of [atDialer, atHost]) {
      expect([tls.getProtocol(), tls.alpnProtocol, tls.isSessionReused()]).toEqual([
        'TLSv1.3',
        'ziti-e2ee/1/std/a circuit',
        false,
      ])
    }
    const shown = [atDialer, atHost].map(({ tls }) => tls.getPeerCertificate().subjectaltname)
    const named = [box, laptop].map(({ identityId }) => `URI:spiffe://portcullis.internal/identity/${identityId}`)
    expect(shown).toEqual(named)
    const hello = extensionsOf(Buffer.concat(sent.dialer), 'client')
    expect(hello.get(16)?.subarray(3).toString()).toBe('ziti-e2ee/1/std/a circuit')
    // Versions: 1.3 and no other; no name of a server, no session to resume, no early data.
    expect([...(hello.get(43) ?? [])]).toEqual([2, 3, 4])
    expect([0, 41, 42].filter((extension) => hello.has(extension))).toEqual([])
    const group = extensionsOf(Buffer.concat(sent.host), 'server').get(51)?.readUInt16BE(0)
    expect(group).toBe(hasPostQuantum ? X25519MLKEM768 : X25519)
    // Neither certificate is among the bytes that a router sees.
    for (const { cert } of [laptop, box]) {
      const { raw } = new X509Certificate(cert)
      expect([sent.dialer, sent.host].some((bytes) => Buffer.concat(bytes).includes(raw))).toBe(false)
    }
    atDialer.tls.destroy()
  })

  it('sends the intermediates and not the root', () => {
    const withRoot = directCredentials({ ...laptop, cert: `${laptop.cert}\n${laptop.ca}` })
    if (typeof withRoot === 'string') throw new Error(withRoot)
    const [leaf, ...issuers] = withRoot.cert
      .split(/(?<=-----END CERTIFICATE-----)/)
      .filter((pem) => pem.includes('BEGIN'))
    expect(new X509Certificate(leaf ?? '').subjectAltName).toContain('spiffe://')
    expect(issuers.length).toBeGreaterThan(0)
    for (const issuer of issuers.map((pem) => new X509Certificate(pem))) expect(issuer.subject).not.toBe(issuer.issuer)
  })

  it.each([
    ['in place of the host', () => ({ host: mallory }), 'another identity', undefined],
    ['in place of the dialer', () => ({ dialer: mallory }), undefined, 'another identity'],
    [
      'of another network, in place of the host',
      () => ({ host: { ...stranger, ca: laptop.ca } }),
      'certificate',
      undefined,
    ],
    [
      'of another network, in place of the dialer',
      () => ({ dialer: { ...stranger, ca: laptop.ca } }),
      undefined,
      'certificate',
    ],
    ['of another circuit', () => ({ circuits: ['one', 'two'] as const }), 'closed', 'no application protocol'],
  ])('fails for an end %s', async (_, meeting, dialerSays, hostSays) => {
    const { atDialer, atHost } = await meet(meeting())
    if (dialerSays !== undefined) expect(atDialer).toMatch(/^Error: /)
    if (hostSays !== undefined) expect(atHost).toMatch(/^Error: /)
    if (dialerSays === 'another identity') expect(atDialer).toContain(dialerSays)
    if (hostSays !== undefined && hostSays !== 'certificate') expect(atHost).toContain(hostSays)
  })

  it('fails for an end whose certificate its controller does not take any more', async () => {
    const { dialer, host } = carriers()
    const peer = { ...partyOf(box), fingerprints: [fingerprintOf(mallory.cert)] }
    const proving = proveEnds(dialer, laptop, { role: 'dialer', circuitId: 'one', peer }, processTimer)
    const other = proveEnds(host, box, { role: 'host', circuitId: 'one', peer: partyOf(laptop) }, processTimer)
    await expect(proving).rejects.toThrow('does not take its certificate')
    await other.catch(() => undefined)
  })

  it('fails for a dialer that shows no certificate, or speaks an older TLS', async () => {
    for (const options of [{}, { key: laptop.key, cert: laptop.cert, maxVersion: 'TLSv1.2' as const }]) {
      const { dialer, host } = carriers()
      const proving = proveEnds(host, box, { role: 'host', circuitId: 'one', peer: partyOf(laptop) }, processTimer)
      const socket = connect({
        socket: dialer,
        ...options,
        ca: laptop.ca,
        ALPNProtocols: ['ziti-e2ee/1/std/one'],
        checkServerIdentity: () => undefined,
      })
      socket.on('error', () => undefined)
      await expect(proving).rejects.toThrow()
      socket.destroy()
    }
  })

  it('fails for a host that asks for no certificate, and for one that chooses no protocol', async () => {
    const { dialer, host } = carriers()
    const proving = proveEnds(dialer, laptop, { role: 'dialer', circuitId: 'one', peer: partyOf(box) }, processTimer)
    const server = createServer({ key: box.key, cert: box.cert, ca: box.ca })
    server.on('tlsClientError', () => undefined).on('secureConnection', (socket) => socket.on('error', () => undefined))
    server.emit('connection', host)
    await expect(proving).rejects.toThrow('of another circuit')
  })

  it('fails for an end that answers in the clear, and for one that says nothing', async () => {
    const clear = carriers()
    const proving = proveEnds(
      clear.dialer,
      laptop,
      { role: 'dialer', circuitId: 'one', peer: partyOf(box) },
      processTimer,
    )
    clear.host.write('hello, I am the box')
    await expect(proving).rejects.toThrow()
    let expire = (): void => undefined
    const timer: Timer = (_ms, work) => {
      expire = work
      return () => undefined
    }
    const silent = proveEnds(carriers().host, box, { role: 'host', circuitId: 'one', peer: partyOf(laptop) }, timer)
    expire()
    await expect(silent).rejects.toThrow('no handshake within 10 s')
  })

  it('is not begun with credentials that cannot prove anything', () => {
    expect(directCredentials({ ...laptop, ca: undefined })).toContain('no authorities')
    expect(directCredentials({ ...laptop, cert: laptop.ca })).toContain('not of the network')
  })
})
