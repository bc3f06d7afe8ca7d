import type { z } from 'zod'
import { requireCovered } from '../authority/containment.ts'
import { invalidField, notFound } from '../base/errors.ts'
import { parseGoDuration } from '../base/time.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { identities, TraceRequest } from '../facts/identities/identity.resource.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'

const CHANNELS = ['selectPath', 'establishPath'] as const

/** How the data flow of an identity is traced; `until` is epoch milliseconds. */
export interface Trace {
  readonly traceId: string
  readonly channels: readonly string[]
  readonly until: number
}

/** Tracing of identities: kept by this process only, for the host's data plane to ask for. */
export class Traces {
  readonly #context: EngineContext
  readonly #traces = new Map<string, Trace>()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The trace of an identity at present. */
  of(identityId: string): Trace | undefined {
    readId(identityId, 'identityId')
    const trace = this.#traces.get(identityId)
    return trace !== undefined && this.#context.clock.now() < trace.until ? trace : undefined
  }

  /**
   * Begins, replaces or ends a trace.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} COULD_NOT_VALIDATE (`duration`) for an invalid duration.
   * @throws {ControllerError} UNAUTHORIZED when the identity has rights that the caller lacks.
   */
  async set(call: Call, identityId: string, wanted: z.input<typeof TraceRequest>): Promise<Trace | undefined> {
    const request = readRequest(TraceRequest, wanted)
    readId(identityId, 'identityId')
    const identity = await this.#context.storage.read((tx) => tx.collection(identities).get(identityId))
    if (identity === undefined) throw notFound('identity', identityId)
    requireCovered(call, identity)
    const now = this.#context.clock.now()
    for (const [id, { until }] of this.#traces) if (until <= now) this.#traces.delete(id)
    if (!request.enabled) {
      this.#traces.delete(identityId)
      return undefined
    }
    const duration = parseGoDuration(request.duration ?? '')
    if (duration === undefined) throw invalidField('duration', 'invalid duration', request.duration ?? '')
    const { channels = [] } = request
    const isAll = channels.length === 0 || channels.includes('all')
    const trace = {
      traceId: request.traceId || this.#context.random.uuid(),
      channels: CHANNELS.filter((channel) => isAll || channels.includes(channel)),
      until: now + Math.round(duration),
    }
    this.#traces.set(identityId, trace)
    return trace
  }
}
