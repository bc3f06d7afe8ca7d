// An endpoint that takes all it can get of a router. Its first message has its identity, what it does, and where the router is; it
// answers when it has begun, and goes on until it is killed.
import { connect } from 'node:tls'
import { type EnrolledDevice, type Identity, openIdentity, type ServiceConnection } from 'portcullis/sdk'

/** Acts of an endpoint by which others might be delayed. */
export const ACTS = [
  '100 streams at full speed',
  '100 streams that it does not read',
  'dials, 200 at once',
  'dials that its host leaves open, 200 at once',
  'binds, 20 at once',
  'frames that mean nothing, 8 sockets at once',
  'TLS connections, 8 at once',
] as const
export type Act = (typeof ACTS)[number]

export interface Neighbour {
  readonly device: EnrolledDevice
  readonly act: Act
  readonly host: string
  readonly port: number
}

const CHUNK = Buffer.alloc(65_536, 7)
const LYING_FRAME = Buffer.from('03060910ffffff7fffffff7fffffff7fffffff7f', 'hex')

process.once('message', async ({ device, act, host, port }: Neighbour) => {
  const identity = await openIdentity(device)
  await begin(identity, act, { host, port })
  process.send?.({})
})

async function begin(identity: Identity, act: Act, router: { readonly host: string; readonly port: number }) {
  const dial = () => identity.dial('loud', { timeoutMs: 60_000 })
  switch (act) {
    case '100 streams at full speed':
      await identity.host('loud', (connection: ServiceConnection) => void connection.resume().on('error', ignore))
      for (let stream = 0; stream < 100; stream += 1) pour(await dial())
      return
    case '100 streams that it does not read':
      await identity.host('loud', (connection: ServiceConnection) => pour(connection))
      for (let stream = 0; stream < 100; stream += 1) (await dial()).on('error', ignore).pause()
      return
    case 'dials, 200 at once':
      await identity.host('loud', (connection: ServiceConnection) => void connection.on('error', ignore).resume())
      return again(200, async () => void (await dial()).on('error', ignore).destroy())
    case 'dials that its host leaves open, 200 at once':
      await identity.host('loud', ignore, { accept: () => new Promise<never>(() => undefined) })
      return again(200, async () => void (await dial()).destroy())
    case 'binds, 20 at once':
      return again(20, async () => (await identity.host('loud', ignore)).close())
    case 'frames that mean nothing, 8 sockets at once':
      return again(8, () => socketTo(router, LYING_FRAME))
    default:
      return again(8, () => socketTo(router))
  }
}

function ignore(_: unknown): void {}

/** Writes for as long as there is room, without end. */
function pour(connection: ServiceConnection): void {
  const write = () => {
    for (let hasRoom = true; hasRoom; ) hasRoom = connection.write(CHUNK)
  }
  connection.on('error', ignore).on('drain', write)
  write()
}

/** Does something again and again, some of it at once; a refusal is tried again. */
function again(atOnce: number, work: () => Promise<unknown>): void {
  const go = (): void => void work().then(go, () => setImmediate(go))
  for (let index = 0; index < atOnce; index += 1) go()
}

function socketTo(router: { readonly host: string; readonly port: number }, frame?: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ ...router, rejectUnauthorized: false, ALPNProtocols: ['ziti-edge'] }, () => {
      if (frame === undefined) socket.destroy()
      else socket.write(frame)
    })
    socket.on('error', ignore).on('close', () => resolve())
  })
}
