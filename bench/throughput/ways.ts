import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { createTestController } from 'portcullis/testing'
import { freePorts } from '../../examples/traffic/web.ts'
import type { LinkedNetwork } from '../../test/support/linked-network.ts'
import { type Carrier, ofDuplex, READY, serveStream } from '../dataplane/carried-stream.ts'
import { byPipe, type RouterKeys, untilHosted } from '../dataplane/carriers.ts'
import { type MeasuredProcess, processOf } from '../dataplane/measured-process.ts'
import type { Subject } from '../dataplane/workloads.ts'

/** A subject of the table. The processor time is that of the processes between the ends, unless its name says otherwise. */
export interface Way extends Subject {
  close(): Promise<void>
}

const NO_TIME: MeasuredProcess = {
  cpuMs: async () => 0,
  residentBytes: async () => 0,
  told: async () => ({}),
}

/** Several processes as one. */
function together(processes: readonly MeasuredProcess[]): MeasuredProcess {
  const sum = async (figure: (one: MeasuredProcess) => Promise<number>) =>
    (await Promise.all(processes.map(figure))).reduce((all, one) => all + one, 0)
  return {
    cpuMs: () => sum((one) => one.cpuMs()),
    residentBytes: () => sum((one) => one.residentBytes()),
    told: async () => ({}),
  }
}

/** Streams to a port of this machine. Some programs take connections before they have reached the host: a byte that came back shows it. */
function toPort(port: number): Carrier {
  const dial = async () => {
    const socket = connect({ host: '127.0.0.1', port }).setNoDelay(true)
    socket.write(Uint8Array.of(READY))
    const gone = once(socket, 'close').then(() => Promise.reject(new Error(`port ${port} closed the connection`)))
    await Promise.race([once(socket, 'data'), gone])
    gone.catch(() => undefined)
    return ofDuplex(socket)
  }
  // A tunneler refuses a connection whose dial failed: one among thousands would end the whole run.
  const open = () =>
    dial().catch((error: unknown) => {
      console.warn(`a connection to port ${port} was refused: ${String(error)}`)
      return dial()
    })
  return { open, close: async () => undefined }
}

/** Straight to the host. */
export function bareTcp(target: number): Way {
  return { name: 'bare TCP', carrier: toPort(target), process: NO_TIME, close: async () => undefined }
}

/** A process of Node that pipes TLS to TLS. */
export async function tlsByNode(keys: RouterKeys): Promise<Way> {
  const pipe = await byPipe(keys)
  return { name: 'TLS piped by Node', carrier: pipe, process: pipe.process, close: () => pipe.close() }
}

/** Two processes of stunnel: one encrypts, the other one decrypts. */
export async function stunnel(network: LinkedNetwork, keys: RouterKeys, target: number): Promise<Way> {
  const [encrypts = 0, decrypts = 0] = await freePorts(2)
  await writeFile(network.file('stunnel.pem'), `${keys.key}\n${keys.serverCert}\n`, { mode: 0o600 })
  const run = async (name: string, lines: readonly string[]): Promise<ChildProcess> => {
    const file = network.file(`${name}.conf`)
    const common = ['foreground = yes', 'pid =', 'socket = l:TCP_NODELAY=1', 'socket = r:TCP_NODELAY=1']
    await writeFile(file, [...common, `[${name}]`, ...lines, ''].join('\n'))
    return spawn('stunnel', [file], { stdio: 'ignore' })
  }
  const processes = [
    await run('decrypts', [
      `accept = 127.0.0.1:${decrypts}`,
      `connect = 127.0.0.1:${target}`,
      `cert = ${network.file('stunnel.pem')}`,
    ]),
    await run('encrypts', ['client = yes', `accept = 127.0.0.1:${encrypts}`, `connect = 127.0.0.1:${decrypts}`]),
  ]
  const carrier = toPort(encrypts)
  await untilHosted(carrier.open)
  return {
    name: 'stunnel, both ends',
    carrier,
    process: together(processes.map(({ pid = 0 }) => processOf(pid))),
    close: async () => {
      for (const one of processes) one.kill()
    },
  }
}

/** Routers of a way, in order: the dialer's, and the host's where it is another one. */
export interface Hop {
  readonly id: string
  readonly process: MeasuredProcess
}

/** Two real tunnelers and one or two routers between them. */
export async function byTunnelers(
  network: LinkedNetwork,
  { name, service, isEncrypted }: { readonly name: string; readonly service: string; readonly isEncrypted: boolean },
  hops: readonly [Hop, ...Hop[]],
  target: number,
): Promise<Way> {
  const [port = 0] = await freePorts(1)
  const [client, host = client] = hops
  await network.service(service, target, { host: host.id, client: client.id }, isEncrypted)
  await network.tunneler(service, 'host')
  await network.tunneler(service, 'client', port)
  const carrier = toPort(port)
  await untilHosted(carrier.open)
  return { name, carrier, process: together(hops.map(({ process }) => process)), close: async () => undefined }
}

/** Two identities, a router and the controller in one process, without a socket. */
export async function inOneProcess(isEncrypted: boolean): Promise<Way> {
  const net = await createTestController({
    clock: 'live',
    router: true,
    model: {
      services: [{ name: 'target', encryptionRequired: isEncrypted }],
      identities: [{ name: 'client' }, { name: 'host' }],
      servicePolicies: [
        { name: 'dial', type: 'Dial', semantic: 'AnyOf', identityRoles: ['@client'], serviceRoles: ['@target'] },
        { name: 'bind', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@host'], serviceRoles: ['@target'] },
      ],
    },
  })
  await net.as('host').host('target', (duplex: Duplex) => serveStream(ofDuplex(duplex)))
  const open = async () => ofDuplex(await net.as('client').dial('target'))
  await untilHosted(open)
  const used = async () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  return {
    name: `SDK to SDK in one process, ends counted${isEncrypted ? ', encrypted' : ''}`,
    carrier: { open, close: async () => undefined },
    process: { ...NO_TIME, cpuMs: used },
    close: () => net.close(),
  }
}
