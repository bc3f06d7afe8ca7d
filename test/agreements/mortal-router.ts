import type { ControlPlane } from 'portcullis'
import { openControlListener } from 'portcullis/fabric'
import { createTestController, type TestController } from 'portcullis/testing'
import { certificatesIn, createRouterRequests } from '../../adapters/network/enrollment/created-requests.ts'
import type { RouterIdentity } from '../../adapters/network/router/control/enrolled-router.ts'
import { HeldIdentity } from '../../adapters/network/router/control/held-identity.ts'
import { RouterRenewal } from '../../adapters/network/router/control/router-renewal.ts'
import type { ControllerListener } from '../../adapters/network/router/state/controllers.ts'
// Internals: what routers are capable of, and the messages between them and the controller.
import type { RouterSession, ToRouter } from '../../src/control-channel.ts'
import { TOLD_TO_CONTROLLERS } from '../../src/control-channel.ts'
import type { Fault } from './mortal-identity.ts'
import { MortalSteps } from './mortal-steps.ts'

const DAY_MS = 86_400_000
/** Milliseconds until a router that was not let in tries again, with its next certificate. */
const AGAIN_MS = 1000
/** Milliseconds until a router takes a question for unanswered, as over a control channel. */
const ANSWER_MS = 30_000

/** The end of a router's process, and of its channel. */
interface Life {
  isDead: boolean
  readonly atOnce: boolean
}

interface Process {
  readonly life: Life
  stop(): void
  lose(): void
  take(message: ToRouter): void
}

/** An enrolled router that renews its certificates. Its process may die at any step and starts again from its file. */
export class MortalRouter {
  readonly net: TestController
  file: RouterIdentity
  /** The fault of a step, if there is one: a message by its type, `connect`, or `keep`. */
  faultOf: (step: { readonly name: string }) => Fault | undefined = () => undefined
  readonly #plane: ControlPlane
  readonly #played: MortalSteps
  #process: Process | undefined
  /** Whether a controller took the router since its process began. */
  isConnected = false

  private constructor(net: TestController, plane: ControlPlane, file: RouterIdentity) {
    this.net = net
    this.#plane = plane
    this.file = file
    // Keys are made in other threads, in real time.
    this.#played = new MortalSteps(net, () => new Promise((resolve) => setTimeout(resolve, 2)))
  }

  /** Enrolls a router; an old certificate is due to be renewed by itself. */
  static async enroll(isOld: boolean): Promise<MortalRouter> {
    const net = await createTestController()
    const now = Date.now()
    net.clock.set(now - (isOld ? 360 * DAY_MS : 0))
    const { plane } = await openControlListener(net, { addresses: ['tls:controller.test:6262'] })
    const { data: router } = await net.admin.call('POST /edge-routers', { body: { name: 'mortal' } })
    const { data } = await net.admin.call('GET /edge-routers/{id}', { params: { id: router.id } })
    const { keyPem: key, clientCsrPem, serverCsrPem } = await createRouterRequests(router.id, ['localhost'])
    const enrolled = await net.client().call('POST /enroll/erott', {
      body: { token: data.enrollmentToken ?? '', clientCsr: clientCsrPem, serverCsr: serverCsrPem },
    })
    const { cert: clientCert, serverCert, ca } = enrolled.data
    const certificates = { clientCert: String(clientCert), serverCert: String(serverCert), ca: String(ca) }
    net.clock.set(now)
    return new MortalRouter(net, plane, { id: router.id, kind: 'edge', key, ...certificates, controllers: [] })
  }

  /** Starts the process where it does not run. `atOnce`: it is to renew its certificates. */
  start(atOnce: boolean): void {
    if (this.#process?.life.isDead === false) return
    this.isConnected = false
    const life: Life = { isDead: false, atOnce }
    const timer = (ms: number, work: () => void) => this.#played.timer(life, ms, work)
    const keep = (file: RouterIdentity) =>
      this.#take(life, 'keep', async () => {
        this.file = JSON.parse(JSON.stringify(file))
      })
    const held = new HeldIdentity(this.file, keep, () => undefined)
    const inner = { connected: () => ({ take: async () => undefined, lost: () => undefined }) }
    const settings = { routerId: this.file.id, held, hosts: ['localhost'], atOnce, timer }
    const renewal = new RouterRenewal(settings, inner)
    let candidate = 0
    let lose: () => void = () => undefined
    const again = () => void timer(AGAIN_MS, () => void connect().catch(again))
    const connect = async () => {
      const { candidates } = held
      const shown = candidates[candidate % candidates.length] ?? held.credentials
      candidate += 1
      let opened: RouterSession | undefined
      const open = async () => {
        opened = await this.#open(shown.clientCert, take, () => lose())
        return opened
      }
      const session = await this.#take(life, 'connect', open).catch((error: unknown) => {
        opened?.closed()
        throw error
      })
      if (life.isDead) return session.closed()
      let isOver = false
      lose = () => {
        if (isOver) return
        isOver = true
        session.closed()
        listener?.lost()
        again()
      }
      candidate = 0
      void held.taken(shown.clientCert).catch(() => undefined)
      this.isConnected = true
      listener = renewal.connected({
        ...{ id: this.#plane.controllerId, judgesPosture: true },
        ask: (message) =>
          new Promise((resolve, reject) => {
            const cancel = timer(ANSWER_MS, () => reject(new Error('no answer in time')))
            this.#take(life, message.type, () => session.receive(message))
              .then(resolve, reject)
              .finally(cancel)
          }),
      })
      for (const message of early.splice(0)) take(message)
    }
    let listener: ControllerListener | undefined
    const early: ToRouter[] = []
    const take = (message: ToRouter) => {
      if (life.isDead) return
      if (listener === undefined) early.push(message)
      else void listener.take(message)
    }
    this.#process = { life, stop: () => renewal.close(), lose: () => lose(), take }
    connect().catch(again)
  }

  kill(): void {
    if (this.#process === undefined) return
    this.#process.life.isDead = true
    this.#process.stop()
    this.#process.lose()
  }

  /** Its controller asks it to renew its certificates, because another authority signs. */
  askToRenew(authorityKeyId: string): void {
    this.#process?.take({ type: 'renew-certificates', authorityKeyId })
  }

  /** Its channel to the controller is lost. */
  loseController(): void {
    this.#process?.lose()
  }

  elapse(ms: number): Promise<void> {
    return this.#played.elapse(ms)
  }

  async close(): Promise<void> {
    this.kill()
    await this.net.close()
  }

  async #open(clientCert: string, take: (message: ToRouter) => void, lost: () => void) {
    const { id } = this.file
    const admission = await this.#plane.verify(id, certificatesIn(clientCert), undefined)
    if (!admission.admitted) throw new Error('the certificate is not taken')
    const session = await this.#plane.connect(
      {
        ...{ routerId: id, linkListeners: [], isResumed: false },
        software: { version: 'v2.0.0', revision: '', buildDate: '', os: '', arch: '' },
        capabilities: [...TOLD_TO_CONTROLLERS],
      },
      { fingerprint: admission.fingerprint, remoteAddress: undefined },
      { send: take, close: () => queueMicrotask(lost) },
    )
    if (typeof session === 'string') throw new Error(session)
    return session
  }

  #take<T>(life: Life, name: string, work: () => Promise<T>): Promise<T> {
    if (life.isDead) return new Promise(() => undefined)
    const ends = { kill: () => this.kill(), failure: () => new Error('the step failed') }
    return this.#played.take(life, this.faultOf({ name }), work, ends)
  }
}
