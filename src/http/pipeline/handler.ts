import type { Profile } from '../../base/compatibility.ts'
import { ControllerError } from '../../base/errors.ts'
import { LARGEST_PAGE } from '../../base/limits.ts'
import type { Call, Caller } from '../../context/call.ts'
import type { ControllerEngine } from '../../engine/engine.ts'
import type { Logger, Turns } from '../../ports/runtime.ts'
import type { ConnectionInfo, PlainAnswer, PlainRequest } from '../exchange.ts'
import type { ApiDocuments, Operation, VersionFacts } from '../operations/operation.ts'
import {
  askHost,
  authorize,
  type BearerAuthentication,
  bearerTokens,
  countedCaller,
  type HostAuthorization,
  secondaryChallenge,
} from './authorize.ts'
import { CallerTurns } from './caller-turns.ts'
import { answerHeaders, type ControllerIdentity, envelope } from './envelope.ts'
import { KeptLists } from './kept-lists.ts'
import { HttpRefusal, RETRY_AFTER_SECONDS, toProblem } from './problem.ts'
import { type InputRules, readBodyText, readInput, refuseEncodedBody } from './read-input.ts'
import { apiPathOf, BASES, openIdPathOf, Router } from './router.ts'

/** Entities that all lists in progress for one identity may ask for: one page of the largest size. */
const ENTITIES_AT_ONCE = LARGEST_PAGE
/** Entities that all lists in progress may ask for. More of them keep more memory alive, and the collector holds the event loop longer. */
const ENTITIES_OF_ALL = 1000
/** Characters from which on a body is read in a turn of its own: 16 bodies may arrive at once. */
const LARGE_BODY = 16_384

/** The operations of every API. */
export interface Apis {
  readonly client: readonly Operation[]
  readonly management: readonly Operation[]
  readonly fabric: readonly Operation[]
  readonly portcullis: readonly Operation[]
  /** Of the OpenID provider, where there is one. */
  readonly openid?: OpenIdApi | undefined
}

/** The part of an OpenID provider that the pipeline asks: its answers, in forms of its own, and the callers of its tokens. */
export interface OpenIdApi {
  readonly operations: readonly Operation[]
  readonly bearer: BearerAuthentication
  /** The answer to a request that failed. */
  toProblem(error: unknown, request: PlainRequest, requestId: string, logger: Logger): PlainAnswer
}

export interface HandlerOptions extends ControllerIdentity, InputRules {
  /** The facts that this controller answers when it is asked for its version. */
  readonly versionFacts: VersionFacts
  /** The host's own rule, beside the declared access; see {@link HostAuthorization}. */
  readonly authorize?: HostAuthorization | undefined
  readonly profile: Profile
  readonly logger: Logger
  readonly turns: Turns
  /** Names a request, so that it can be found in the log. */
  newRequestId(): string
  /** Reports whether the controller was closed: then every answer says so. */
  isClosed(): boolean
  /** Writes the documents of all APIs; called once. */
  documents(): ApiDocuments
}

/** The watcher of a request, and its name in the log. Most requests never get a name. */
interface WatchedRequest {
  requestId(): string
  readonly watch: RequestWatch | undefined
}

/** Makes the controller's HTTP function out of its operations. */
export function createHandler(engine: ControllerEngine, apis: Apis, options: HandlerOptions): WatchedFetch {
  const pipeline = new Pipeline(engine, apis, options)
  const general = answerHeaders(options)
  return async (request, connection = {}, watch) => {
    let named: string | undefined
    const requestId = () => {
      named ??= options.newRequestId()
      return named
    }
    const watched = { requestId, watch }
    const { status, headers, body, upgrade } = await pipeline
      .answer(request, connection, watched)
      .catch((cause: unknown) => pipeline.problem(cause, request, watched))
    return { status, headers: { ...headers, ...general }, body, upgrade }
  }
}

/** The way of requests to the operations of all APIs. */
class Pipeline {
  readonly #engine: ControllerEngine
  readonly #apis: Apis
  readonly #options: HandlerOptions
  readonly #routers: Readonly<Record<keyof typeof BASES, Router>>
  readonly #keptLists: KeptLists
  readonly #lists: CallerTurns
  readonly #questions: CallerTurns
  /** The input that all handlers have in common. */
  readonly #common: object

  constructor(engine: ControllerEngine, apis: Apis, options: HandlerOptions) {
    const { turns, limits } = options
    this.#engine = engine
    this.#apis = apis
    this.#options = options
    this.#routers = {
      client: Router.of(apis.client),
      management: Router.of(apis.management),
      fabric: Router.of(apis.fabric),
      portcullis: Router.of(apis.portcullis),
      openid: Router.of(apis.openid?.operations ?? []),
    }
    this.#keptLists = new KeptLists(engine.reader.texts)
    const listLimits = { places: ENTITIES_AT_ONCE, waiting: limits.listsPerIdentity, placesOfAll: ENTITIES_OF_ALL }
    this.#lists = new CallerTurns(turns, listLimits)
    this.#questions = new CallerTurns(turns, { places: 1, waiting: limits.questionsPerIdentity })
    let written: ApiDocuments | undefined
    const documents = () => {
      written ??= options.documents()
      return written
    }
    this.#common = { engine, documents, versionFacts: options.versionFacts }
  }

  /** The whole pipeline, in the order that deployed clients observe. */
  async answer(request: PlainRequest, connection: ConnectionInfo, watched: WatchedRequest): Promise<PlainAnswer> {
    const options = this.#options
    if (options.isClosed()) throw closed()
    const turn = options.turns.begin()
    const url = new URL(request.url)
    refuseEncodedBody(request)
    const bodyText = await readBodyText(request)
    const { api, path } = this.#placeOf(url)
    const { operation, params } = this.#routers[api].match(request.method, path)
    const { shape } = operation
    watched.watch?.matched(watched.requestId(), `${BASES[api]}${pathIn(shape.route)}`)
    const caller = await this.#callerOf(shape, request, connection)
    if (bodyText !== undefined && bodyText.length >= LARGE_BODY) await turn()
    const input = readInput(shape, request, url, bodyText, options)
    // A request that only reads gets a name when it fails.
    const requestId = shape.route.startsWith('GET ') ? undefined : watched.requestId()
    const call = callOf(connection, caller, bearerTokens(request.headers), requestId)
    const make = async () => {
      // The declaration determines the handler's input, and validation has checked it.
      const given = { call, params, headers: request.headers, url, ...input, request: input.body }
      const result = await operation.handle({ ...this.#common, ...given } as never)
      return envelope(shape, result, input.find, options.limits, options.profile, this.#keptLists, turn)
    }
    const admit = async () => {
      authorize(shape, call)
      const { remoteAddress } = connection
      await askHost(options.authorize, { api, operation: shape.route, params }, { caller, remoteAddress })
      return this.#inTurn(shape, input.find, { caller, remoteAddress }, make)
    }
    const answer = await admit().catch((error: unknown) => {
      if (error instanceof ControllerError && error.code === 'UNAUTHORIZED') {
        const named = { ...call, requestId: watched.requestId() }
        this.#engine.auditTrail.noteRefused(named, `${api} ${shape.route}`, error.details?.message)
      }
      throw error
    })
    const challenge = caller && secondaryChallenge(caller)
    if (challenge === undefined) return answer
    return { ...answer, headers: { ...answer.headers, 'www-authenticate': challenge } }
  }

  /** The answer to a request that failed. */
  problem(cause: unknown, request: PlainRequest, { requestId, watch }: WatchedRequest): PlainAnswer {
    const { isClosed, logger } = this.#options
    const { openid } = this.#apis
    // A request that was under way when the controller was closed misses its storage.
    const error = isClosed() && !(cause instanceof ControllerError) ? closed() : cause
    watch?.failed(error)
    return openid !== undefined && this.#placeOf(new URL(request.url)).api === 'openid'
      ? openid.toProblem(error, request, requestId(), logger)
      : toProblem(error, requestId(), logger)
  }

  /** The API of an address, and the path within it. */
  #placeOf({ pathname }: URL): { readonly api: keyof typeof BASES; readonly path: string } {
    const path = this.#apis.openid && openIdPathOf(pathname)
    return path === undefined ? apiPathOf(pathname) : { api: 'openid', path }
  }

  #callerOf({ access }: Operation['shape'], { headers }: PlainRequest, connection: ConnectionInfo) {
    const { remoteAddress, clientCertificates = [] } = connection
    const credentials = { headers, clientCertificates, bearer: this.#apis.openid?.bearer }
    return countedCaller(this.#engine, access, credentials, remoteAddress)
  }

  /** Runs a list or a long question when its caller has a free place, and anything else at once. */
  #inTurn<T>(
    shape: Operation['shape'],
    { limit }: { readonly limit?: number | undefined },
    { caller, remoteAddress }: { readonly caller: Caller | undefined; readonly remoteAddress: string | undefined },
    make: () => Promise<T>,
  ): Promise<T> {
    if (shape.symbols !== undefined) return this.#lists.run(limit ?? ENTITIES_AT_ONCE, caller, remoteAddress, make)
    return shape.isLong ? this.#questions.run(1, caller, remoteAddress, make) : make()
  }
}

/** The path template of a route. */
function pathIn(route: string): string {
  return route.slice(route.indexOf(' ') + 1)
}

function closed(): HttpRefusal {
  const cause = { code: 'UNHANDLED', message: 'the controller is closed' }
  return new HttpRefusal('TIMEOUT', 503, cause, { 'retry-after': RETRY_AFTER_SECONDS })
}

function callOf(
  connection: ConnectionInfo,
  caller: Caller | undefined,
  tokens: readonly string[],
  requestId: string | undefined,
): Call {
  const { remoteAddress, clientCertificates } = connection
  return {
    ...(caller === undefined ? { by: 'anonymous' } : { by: 'caller', caller }),
    ...(remoteAddress !== undefined && { remoteAddress }),
    ...(clientCertificates !== undefined && { clientCertificates }),
    ...(tokens.length > 0 && { bearerTokens: tokens }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** Gets the outcome of a request. */
export interface RequestWatch {
  /** An operation was found for it; `route` is the template of its path. */
  matched(requestId: string, route: string): void
  /** The request failed. */
  failed(error: unknown): void
}

/** A controller's HTTP function without measuring. It never rejects. */
export type WatchedFetch = (
  request: PlainRequest,
  connection?: ConnectionInfo,
  watch?: RequestWatch,
) => Promise<PlainAnswer>
