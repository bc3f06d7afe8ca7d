import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceConnection } from 'portcullis/sdk'
import { openOwnRouter } from '../../adapters/network/router/own-router.ts'
import { inProcessIdentity } from '../../adapters/network/sdk/in-process-identity.ts'
import type { AllHeld } from './doors.ts'
import type { Judge } from './oracle.ts'
import { type Scene, settle } from './scene.ts'
import { URL_OF_ALL } from './two-processes.ts'

/** A door behind the router of a process's own, which an SDK asks. */
export interface OwnDoor {
  readonly column: string
  ask(): Promise<boolean>
  /** The verdict of the oracle; undefined where both are right. */
  expects(judge: Judge): boolean | undefined
}

/** The router of the process A, somebody at it to whom nothing happens, and the subject with an SDK. */
export interface OwnPlane {
  /** Begins what the subject does, in the session that it holds at A. */
  open(held: AllHeld): Promise<readonly OwnDoor[]>
  close(): Promise<void>
}

const BOX = 'box'
const SUBJECT = 'subject'
/** Milliseconds of the test's clock for which an SDK may try. */
const PATIENCE_MS = 16_000

export async function openOwnPlane(scene: Scene): Promise<OwnPlane> {
  const { two, subject, logins } = scene
  const A = scene.process('A')
  const now = () => two.now()
  const { timer } = two
  const ways = { plane: A.listener.plane, advertise: 'own.test:3022', timer, now, monotonic: now }
  const router = await openOwnRouter({ name: 'own' }, ways)
  const boxId = await joinBox(scene)

  const sdk = (startSession: () => Promise<string>, beside: () => ReturnType<typeof logins.beside>) =>
    inProcessIdentity({
      origin: URL_OF_ALL,
      router,
      timer,
      now,
      startSession,
      fetch: async (request) => {
        const { bearers = [], certificate } = await beside()
        const authorizations = bearers.map((token) => `Bearer ${token}`)
        const headers = Object.fromEntries(request.headers)
        const body = request.body === null ? {} : { body: await request.text() }
        return A.fetch(
          new URL(request.url).pathname + new URL(request.url).search,
          {
            method: request.method,
            headers: authorizations.length === 0 ? headers : { ...headers, authorization: authorizations.join(', ') },
            ...body,
          },
          certificate,
        )
      },
    })
  const box = sdk(
    () => A.listener.plane.startSession(boxId),
    async () => ({ certificate: undefined, bearers: [] }),
  )
  const echo = (connection: ServiceConnection) => {
    connection.on('error', () => undefined)
    connection.pipe(connection)
  }
  const identities = [box]
  return {
    open: async (held) => {
      const first = [held.A.zt]
      const own = sdk(
        async () => {
          const token = first.pop() ?? (await logins.session(A))
          if (token === undefined) throw new Error('the login is refused')
          return token
        },
        () => logins.beside(),
      )
      identities.push(own)
      await inTime(scene, box.host(subject.dials.name, echo, { instance: BOX }))
      await inTime(scene, own.host(subject.hosts.name, echo, { instance: SUBJECT }))
      const dial = (who: typeof own, service: string, instance: string) =>
        inTime(scene, who.dial(service, { instance, timeoutMs: PATIENCE_MS }))
      const dialed = watched(await dial(own, subject.dials.name, BOX))
      const hosted = watched(await dial(box, subject.hosts.name, SUBJECT))
      const place = { routerId: router.id, partnerId: boxId }
      const isDialed = async (dialing: Promise<ServiceConnection>) =>
        dialing.then(
          (connection) => {
            connection.on('error', () => undefined).destroy()
            return true
          },
          () => false,
        )
      return [
        {
          column: 'stream that its SDK dialed over the own router',
          ask: () => carries(scene, dialed),
          expects: (judge) => judge.sdkDialsOn(place),
        },
        {
          column: 'stream of somebody else to what its SDK hosts at the own router',
          ask: () => carries(scene, hosted),
          expects: (judge) => judge.sdkHostsOn(place),
        },
        {
          column: 'dial by its SDK over the own router',
          ask: () => isDialed(dial(own, subject.dials.name, BOX)),
          expects: (judge) => judge.sdkDials(place),
        },
        {
          column: 'dial of somebody else to what its SDK hosts at the own router',
          ask: () => isDialed(dial(box, subject.hosts.name, SUBJECT)),
          expects: (judge) => judge.sdkIsDialed(place),
        },
      ]
    },
    close: async () => {
      for (const identity of identities) await identity.close().catch(() => undefined)
      router.close()
    },
  }
}

/** Makes somebody who hosts what the subject dials, and dials what it hosts. */
async function joinBox({ process, subject }: Scene): Promise<string> {
  const A = process('A')
  const id = await A.create('/identities', { name: BOX, type: 'Device', isAdmin: false })
  const any = { semantic: 'AnyOf', identityRoles: [`@${id}`] }
  const services = (type: string, serviceId: string) =>
    A.create('/service-policies', { ...any, name: `${BOX} ${type}`, type, serviceRoles: [`@${serviceId}`] })
  await services('Bind', subject.dials.serviceId)
  await services('Dial', subject.hosts.serviceId)
  await A.create('/edge-router-policies', { ...any, name: BOX, edgeRouterRoles: ['#all'] })
  return id
}

function watched(connection: ServiceConnection): ServiceConnection {
  return connection.on('error', () => undefined)
}

/** Whether what is sent on a stream comes back. */
async function carries(scene: Scene, connection: ServiceConnection): Promise<boolean> {
  if (connection.destroyed || !connection.writable || connection.readableEnded) return false
  const answered = once(connection, 'data').then(
    () => true,
    () => false,
  )
  const ended = Promise.race([once(connection, 'close'), once(connection, 'end')]).then(
    () => false,
    () => false,
  )
  connection.write('still there?')
  return inTime(scene, Promise.race([answered, ended]), 5000).catch(() => false)
}

/**
 * Waits until something is settled, and lets time of the clock pass where it is not: signatures are made by no clock of the test.
 * Rejects where it is not settled within a while.
 */
async function inTime<T>(scene: Scene, work: Promise<T>, mostMs = PATIENCE_MS + 1000): Promise<T> {
  let isSettled = false
  const note = () => {
    isSettled = true
  }
  work.then(note, note)
  for (let waited = 0; waited < mostMs && !isSettled; waited += 500) {
    for (let turn = 0; turn < 40 && !isSettled; turn += 1) await (turn < 20 ? settle() : sleep(10))
    if (!isSettled) await scene.elapse(500)
  }
  if (!isSettled) throw new Error('it is not settled in time')
  return work
}
