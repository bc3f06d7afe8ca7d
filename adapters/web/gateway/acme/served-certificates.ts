import type { SecureContext } from 'node:tls'
import type { Client } from 'acme-client'
import { HOUR_MS } from '../../../../src/base/time.ts'
import { callIsolated } from '../../../../src/concurrency/call-isolated.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import { unlessAborted } from '../../../../src/concurrency/unless-aborted.ts'
import type { GatewayHosts } from '../gateway-hosts.ts'
import { AcmeFolder, type KeptOrder, NO_ORDER } from './acme-folder.ts'
import type { AcmeCertificates, AcmeOptions } from './acme-options.ts'
import { obtainPair } from './acme-order.ts'
import { type AcmeLibrary, acmeLibrary, boundRequests, OrderRefused, refusedOr, ServerAway } from './acme-server.ts'
import { ShownCertificates } from './shown-certificates.ts'

/** The share of its life after which a certificate is renewed. */
const RENEWED_AFTER = 2 / 3
/** How often the services and the folder are read without an event, in ms. A clock that is set has its effect then, at the latest. */
const SERVICES_LOOK_MS = HOUR_MS
/** Changes of services are followed together, after this many ms. */
const FOLLOWED_AFTER_MS = 1000
/** Milliseconds for one order. */
const ORDER_MS = 180_000
/** The first pause after a failure, in ms. It doubles. Servers refuse a host that fails five times in an hour. */
const FIRST_PAUSE_MS = 300_000
const LONGEST_PAUSE_MS = 12 * HOUR_MS
/** The longest pause as a share of the life of the present certificate: the last third of its life has time for some. */
const LONGEST_PAUSE_SHARE = 1 / 24
/** The most hosts with certificates. */
const MOST_HOSTS = 1000

/** Holds the certificates of the hosts of a gateway, orders absent certificates, and renews old ones: one order at a time. */
export class ServedCertificates implements AcmeCertificates {
  readonly #options: AcmeOptions
  readonly #hosts: GatewayHosts
  readonly #library: AcmeLibrary
  readonly #folder: AcmeFolder
  readonly #shown = new ShownCertificates()
  readonly #orders = new Map<string, KeptOrder>()
  readonly #unbound: () => void
  #client: Client | undefined
  #attempt: AbortController | undefined
  /** Failures of the server. They delay every order. */
  #server: KeptOrder = NO_ORDER
  #cancel: () => void = () => undefined
  #lookAt = Number.POSITIVE_INFINITY
  #looking: Promise<void> | undefined
  #isClosed = false

  private constructor(options: AcmeOptions, hosts: GatewayHosts, library: AcmeLibrary, folder: AcmeFolder) {
    this.#options = options
    this.#hosts = hosts
    this.#library = library
    this.#folder = folder
    this.#unbound = boundRequests(library, options.directory, () => this.#attempt?.signal, this.#now)
  }

  /** Reads the kept certificates; absent ones are ordered afterwards. Rejects where the package is not installed. */
  static async open(options: AcmeOptions, hosts: GatewayHosts): Promise<ServedCertificates> {
    const library = await acmeLibrary()
    const folder = await AcmeFolder.open(options.folder, options.directory)
    const opened = new ServedCertificates(options, hosts, library, folder)
    for (const host of await folder.hosts()) await opened.#read(host)
    opened.#lookBy(opened.#now())
    return opened
  }

  get tls(): AcmeCertificates['tls'] {
    return this.#shown.tls
  }

  refresh(): void {
    this.#lookBy(this.#now() + FOLLOWED_AFTER_MS)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel()
    this.#attempt?.abort(new ServerAway('the gateway is closed'))
    await this.#looking
    this.#unbound()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  readonly #now = (): number => this.#options.clock?.now() ?? runtime.now()

  /** Runs work at an instant; answers a function that cancels it. */
  #at(instant: number, work: () => void): () => void {
    const { scheduler } = this.#options
    if (scheduler === undefined) return runtime.timer(Math.max(instant - this.#now(), 0), work)
    return scheduler.at(instant, async () => work())
  }

  /** Looks at an instant, or earlier where an earlier look is due. */
  #lookBy(instant: number): void {
    if (this.#isClosed || instant >= this.#lookAt) return
    this.#cancel()
    this.#lookAt = instant
    this.#cancel = this.#at(instant, () => {
      this.#lookAt = Number.POSITIVE_INFINITY
      // A look that runs looks again at its end.
      if (this.#looking !== undefined) return this.#lookBy(this.#now() + FOLLOWED_AFTER_MS)
      this.#looking = this.#look().then((next) => {
        this.#looking = undefined
        this.#lookBy(Math.min(next, this.#now() + SERVICES_LOOK_MS))
      })
    })
  }

  /** Orders everything that is due, one after the other. Answers the instant at which the next order is due. */
  async #look(): Promise<number> {
    let next = Number.POSITIVE_INFINITY
    try {
      const hosts = await this.#wanted()
      const failures = new Map<string, number>()
      for (const host of hosts) failures.set(host, (await this.#order(host)).failures)
      const failuresOf = (host: string) => failures.get(host) ?? 0
      // A host by which the server hangs keeps no other host waiting.
      for (const host of hosts.toSorted((a, b) => failuresOf(a) - failuresOf(b))) {
        if (this.#isClosed) break
        if (this.#dueAt(host) <= this.#now()) await this.#read(host)
        const dueAt = Math.max(this.#dueAt(host), (await this.#order(host)).retryAt, this.#server.retryAt)
        next = Math.min(next, dueAt <= this.#now() ? await this.#obtain(host) : dueAt)
      }
      await this.#forget(hosts)
    } catch (error) {
      this.#failed(undefined, error, this.#now() + FIRST_PAUSE_MS)
      next = this.#now() + FIRST_PAUSE_MS
    }
    return next
  }

  /**
   * The hosts that are to have certificates: the home, and those of services, as many as there may be. Hosts with a certificate come first:
   * a caller that makes services does not delay renewals of others.
   */
  async #wanted(): Promise<readonly string[]> {
    const services = await this.#options.services()
    const labels = services.filter((service) => this.#hosts.names(service))
    const hosts = [...new Set([this.#hosts.home, ...labels])].map((label) => this.#hosts.nameOf(label))
    const isAbsent = (host: string) => Number(this.#shown.of(host) === undefined)
    const kept = hosts.toSorted((a, b) => isAbsent(a) - isAbsent(b)).slice(0, MOST_HOSTS)
    if (kept.length < hosts.length) {
      const reason = `there are ${hosts.length} hosts for certificates, and at most ${MOST_HOSTS} may have one`
      this.#failed(undefined, new Error(reason), undefined)
    }
    return kept
  }

  /** When a certificate is to be ordered: at two thirds of the life of the present one. */
  #dueAt(host: string): number {
    const { notBefore = 0, notAfter = 0 } = this.#shown.of(host) ?? {}
    return notBefore + (notAfter - notBefore) * RENEWED_AFTER
  }

  /** Takes the kept pair of a host, which another process over the same folder may have renewed. */
  async #read(host: string): Promise<void> {
    try {
      const pair = await this.#folder.pair(host)
      if (pair !== undefined) this.#shown.use(host, pair)
    } catch (error) {
      this.#failed(host, error, undefined)
    }
  }

  async #order(host: string): Promise<KeptOrder> {
    const kept = this.#orders.get(host) ?? (await this.#folder.order(host))
    this.#orders.set(host, kept)
    return kept
  }

  /** Orders one certificate and puts it in use. Answers the instant of the next order for this host. */
  async #obtain(host: string): Promise<number> {
    const attempt = new AbortController()
    const isLate = this.#at(this.#now() + ORDER_MS, () => attempt.abort(new ServerAway('no certificate in time')))
    this.#attempt = attempt
    try {
      const client = await this.#open(attempt.signal)
      const parts = {
        ...{ library: this.#library, client, folder: this.#folder, host, signal: attempt.signal },
        show: (challenge: SecureContext | undefined) => this.#shown.prove(host, challenge),
        pause: (ms: number) => new Promise<void>((resolve) => void this.#at(this.#now() + ms, resolve)),
        keep: (order: KeptOrder) => this.#keep(host, order),
      }
      const pair = await obtainPair(parts, await this.#order(host))
      this.#shown.use(host, pair)
      this.#server = NO_ORDER
      await this.#keep(host, NO_ORDER)
      callIsolated(() => this.#options.onIssued?.({ host, notAfter: pair.notAfter }), warn)
      return this.#dueAt(host)
    } catch (error) {
      this.#client = undefined
      return this.#isClosed ? Number.POSITIVE_INFINITY : await this.#pauseAfter(host, error)
    } finally {
      isLate()
      this.#attempt = undefined
    }
  }

  /** The client with its account, which the server makes at the first use. */
  async #open(signal: AbortSignal): Promise<Client> {
    if (this.#client !== undefined) return this.#client
    const { crypto, Client: Opened } = this.#library
    const { directory, contact } = this.#options
    const accountKey = await this.#folder.accountKey(async () => String(await crypto.createPrivateEcdsaKey()))
    const client = new Opened({ directoryUrl: directory, accountKey })
    const account = { termsOfServiceAgreed: true, ...(contact !== undefined && { contact: [`mailto:${contact}`] }) }
    try {
      await unlessAborted(signal, () => refusedOr(client.createAccount(account)))
    } catch (error) {
      if (error instanceof OrderRefused) throw new ServerAway(`the account is refused: ${error.message}`)
      throw error
    }
    this.#client = client
    return client
  }

  async #keep(host: string, order: KeptOrder): Promise<void> {
    this.#orders.set(host, order)
    await this.#folder.keepOrder(host, order)
  }

  /** Counts a failure: of the server, or of one host. Answers when the next order may be made. */
  async #pauseAfter(host: string, error: unknown): Promise<number> {
    const kept = await this.#order(host)
    const isAway = error instanceof ServerAway
    const failures = (isAway ? this.#server : kept).failures + 1
    const { notBefore = 0, notAfter = Number.POSITIVE_INFINITY } = this.#shown.of(host) ?? {}
    const longest = Math.min(LONGEST_PAUSE_MS, Math.max((notAfter - notBefore) * LONGEST_PAUSE_SHARE, FIRST_PAUSE_MS))
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20), longest)
    const retryAt = this.#now() + Math.max(pause, isAway ? error.retryAfterMs : 0)
    if (isAway) {
      this.#server = { failures, retryAt }
      this.#orders.set(host, { ...kept, failures: kept.failures + 1 })
    } else {
      // An order that was refused is over. Any other one may have its certificate.
      const begun = error instanceof OrderRefused ? undefined : kept.begun
      await this.#keep(host, { failures, retryAt, ...(begun && { begun }) }).catch((unkept: unknown) =>
        this.#failed(host, unkept, retryAt),
      )
    }
    this.#failed(host, error, retryAt)
    return retryAt
  }

  #failed(host: string | undefined, error: unknown, retryAt: number | undefined): void {
    const reason = error instanceof Error ? error.message : String(error)
    const { onFailure } = this.#options
    if (onFailure === undefined) warn(`ACME${host === undefined ? '' : `, ${host}`}: ${reason}`)
    else callIsolated(() => onFailure({ host, reason, retryAt }), warn)
  }

  /** Drops certificates that have ended, of hosts that are served no more. */
  async #forget(wanted: readonly string[]): Promise<void> {
    const kept = new Set(wanted)
    for (const host of this.#orders.keys()) if (!kept.has(host)) this.#orders.delete(host)
    for (const [host, { notAfter }] of this.#shown.pairs()) {
      if (kept.has(host) || notAfter > this.#now()) continue
      this.#shown.drop(host)
      await this.#folder.drop(host)
    }
  }
}

function warn(problem: unknown): void {
  process.emitWarning(problem instanceof Error ? problem : String(problem))
}
