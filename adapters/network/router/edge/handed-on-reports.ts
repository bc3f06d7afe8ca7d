import { Gate } from '../../../../src/concurrency/gate.ts'
import type { PostureKnown, ReportedFacts } from '../../../../src/control-channel.ts'
import { type EndpointFacts, emptyPostureData, type PostureData } from '../../../../src/policy.ts'
import type { ConnectedController } from '../state/controllers.ts'
import type { EdgeClient } from './endpoint.ts'

/** Bytes of reports that wait for a controller beyond which an endpoint is not read, and beyond which its reports are dropped. */
const MANY_BYTES = 524_288
const MOST_BYTES = 2 * MANY_BYTES
/** The most waiting facts of an endpoint: a thousand processes, and the other facts. */
const MOST_FACTS = 1010

/** The endpoint that reports, with its present token. */
export interface Reporter {
  readonly client: EdgeClient
}

/** The endpoint of an API session. */
interface Watched {
  /** The channel that reported last. */
  reporter: Reporter
  /** Facts that no controller has taken yet, each once. */
  readonly waiting: Map<string, ReportedFacts & { readonly bytes: number }>
  /** Their bytes: a fact that a later one replaces counts no more. */
  waitingBytes: number
  readonly asking: Gate
  /** The next question. */
  next: Promise<void> | undefined
  known: PostureData | undefined
  /** The revision of the store at which the posture was known. */
  revision: number
}

/**
 * The posture that endpoints report where the controller judges it. Reports are handed on, and the controller answers with the known
 * posture of the endpoint, including reports to other routers. Reports that no controller took are kept for the next controller.
 */
export class HandedOnReports {
  readonly #controller: () => ConnectedController | undefined
  /** By API session. */
  readonly #watched = new Map<string, Watched>()

  constructor(controller: () => ConnectedController | undefined) {
    this.#controller = controller
  }

  /** Hands on the reports of an endpoint; resolves when they are judged, or no controller takes them. */
  report(reporter: Reporter, reports: readonly ReportedFacts[]): Promise<void> {
    const watched = this.#watch(reporter)
    for (const { facts: all, at } of reports) {
      for (const [key, facts] of apart(all)) {
        forgetFact(watched, key)
        const bytes = key.length + JSON.stringify(facts).length
        if (watched.waiting.size >= MOST_FACTS || watched.waitingBytes + bytes > MOST_BYTES) continue
        watched.waiting.set(key, { facts, at, bytes })
        watched.waitingBytes += bytes
      }
    }
    return this.#ask(watched)
  }

  /** Asks for the known posture of an endpoint; the controller sends its changes from then on. */
  refresh(reporter: Reporter): Promise<void> {
    return this.#ask(this.#watch(reporter))
  }

  /** Resolves when all reports of the endpoint are judged, or no controller takes them; undefined while no question is underway. */
  settled(sessionId: string): Promise<void> | undefined {
    const { asking } = this.#watched.get(sessionId) ?? {}
    return asking === undefined || asking.isOpen ? undefined : asking.idle()
  }

  /** Whether the endpoint must not be read, because too many of its reports wait for a controller. */
  isBehind(sessionId: string): boolean {
    return (this.#watched.get(sessionId)?.waitingBytes ?? 0) > MANY_BYTES
  }

  /** Whether a controller was asked about the endpoint of an API session. */
  isWatched(sessionId: string): boolean {
    return this.#watched.has(sessionId)
  }

  /** The posture of the endpoint of an API session; undefined before the first answer. */
  dataOf(sessionId: string): PostureData | undefined {
    return this.#watched.get(sessionId)?.known
  }

  /** A controller sends the known posture. */
  known({ apiSessionId, revision, posture }: PostureKnown): void {
    const watched = this.#watched.get(apiSessionId)
    if (watched === undefined || revision < watched.revision) return
    watched.known = { ...emptyPostureData(), ...posture }
    watched.revision = revision
  }

  /** A controller is connected: it gets the reports that no controller has taken, and sends changes from now on. */
  async connected(): Promise<void> {
    for (const watched of [...this.#watched.values()]) {
      watched.revision = -1
      await this.#ask(watched)
    }
  }

  /** An API session has no channel here any more. */
  forget(sessionId: string): void {
    if (!this.#watched.delete(sessionId)) return
    this.#controller()
      ?.ask({ type: 'posture-unwanted', apiSessionId: sessionId })
      .catch(() => undefined)
  }

  #watch(reporter: Reporter): Watched {
    const { id } = reporter.client.session
    const watched = this.#watched.get(id) ?? {
      ...{ reporter, waiting: new Map(), waitingBytes: 0, asking: new Gate(1) },
      ...{ next: undefined, known: undefined, revision: -1 },
    }
    watched.reporter = reporter
    this.#watched.set(id, watched)
    return watched
  }

  /** One question at a time: a report that arrives while a question waits goes with it. */
  #ask(watched: Watched): Promise<void> {
    watched.next ??= watched.asking.run(() => this.#handOn(watched))
    return watched.next
  }

  async #handOn(watched: Watched): Promise<void> {
    watched.next = undefined
    const controller = this.#controller()
    if (controller?.takesPosture !== true) return
    const { token: apiSessionToken } = watched.reporter.client
    const handed = [...watched.waiting]
    const reports = handed.map(([, { facts, at }]) => ({ facts, at }))
    try {
      const answer = await controller.ask({ type: 'posture-reported', apiSessionToken, reports })
      if (answer?.type === 'posture-known') this.known(answer)
    } catch {
      // The controller is gone or silent: the next controller gets the reports.
      return
    }
    for (const [key, report] of handed) if (watched.waiting.get(key) === report) forgetFact(watched, key)
  }
}

/** A fact waits no longer: it was taken, or a later one takes its place. */
function forgetFact(watched: Watched, key: string): void {
  watched.waitingBytes -= watched.waiting.get(key)?.bytes ?? 0
  watched.waiting.delete(key)
}

/** Single facts, each under the name by which a later fact replaces it. */
function apart(facts: EndpointFacts): readonly (readonly [string, EndpointFacts])[] {
  const { processes = [], ...others } = facts
  return [
    ...Object.entries(others).map(([name, value]) => [name, { [name]: value }] as const),
    ...processes.map((process) => [`process ${process.path}`, { processes: [process] }] as const),
  ]
}
