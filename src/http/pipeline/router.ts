import { ControllerError } from '../../base/errors.ts'
import { isStorable } from '../../base/text.ts'
import { OIDC_BASE } from '../../facts/oidc/discovery.rules.ts'
import type { Operation } from '../operations/operation.ts'

interface Node {
  readonly literals: Map<string, Node>
  parameter?: { readonly name: string; readonly node: Node }
  readonly operations: Map<string, Operation>
}

/** No operation has the path. */
export class UnknownPath extends ControllerError {
  constructor(path: string) {
    super('NOT_FOUND', { code: 'UNHANDLED', message: `path ${path} was not found` })
  }
}

/** An operation found for a request, with the values of its path parameters. */
export interface Match {
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
}

/** Finds the operation of a method and path among the rows of one API. */
export class Router {
  static readonly #known = new WeakMap<readonly Operation[], Router>()
  readonly #root: Node = emptyNode()

  /** The router of these rows, which is put together once for all controllers of a process. */
  static of(operations: readonly Operation[]): Router {
    const known = Router.#known.get(operations) ?? new Router(operations)
    Router.#known.set(operations, known)
    return known
  }

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) this.#add(operation)
  }

  /** Errors: `NOT_FOUND` for an unknown path, `METHOD_NOT_ALLOWED` for a known one with another verb. */
  match(method: string, path: string): Match {
    const { node, params } = this.#find(path) ?? {}
    if (node === undefined || params === undefined) throw new UnknownPath(path)
    const operation = node.operations.get(method)
    if (operation === undefined) {
      const allowed = [...node.operations.keys()].join(',')
      const message = `method ${method} is not allowed, but [${allowed}] are`
      throw new ControllerError('METHOD_NOT_ALLOWED', { code: 'UNHANDLED', message })
    }
    return { operation, params }
  }

  /** Reports whether an operation has the path, with any method. */
  has(path: string): boolean {
    return this.#find(path) !== undefined
  }

  #find(path: string): { readonly node: Node; readonly params: Record<string, string> } | undefined {
    const params: Record<string, string> = {}
    let node = this.#root
    for (const segment of segmentsOf(path)) {
      const literal = node.literals.get(segment)
      if (literal !== undefined) {
        node = literal
        continue
      }
      const value = node.parameter && decoded(segment)
      if (node.parameter === undefined || value === undefined) return undefined
      params[node.parameter.name] = value
      node = node.parameter.node
    }
    return node.operations.size === 0 ? undefined : { node, params }
  }

  #add(operation: Operation): void {
    const [method = '', template = ''] = operation.shape.route.split(' ')
    let node = this.#root
    for (const segment of segmentsOf(template)) {
      if (segment.startsWith('{')) {
        node.parameter ??= { name: segment.slice(1, -1), node: emptyNode() }
        node = node.parameter.node
      } else {
        const next = node.literals.get(segment) ?? emptyNode()
        node.literals.set(segment, next)
        node = next
      }
    }
    if (node.operations.has(method)) throw new Error(`two operations answer ${operation.shape.route}`)
    node.operations.set(method, operation)
  }
}

function emptyNode(): Node {
  return { literals: new Map(), operations: new Map() }
}

/** Empty segments do not count, so duplicate and trailing slashes change nothing. */
function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '')
}

function decoded(segment: string): string | undefined {
  try {
    const value = decodeURIComponent(segment)
    return isStorable(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const CLIENT_BASE = '/edge/client/v1'
export const MANAGEMENT_BASE = '/edge/management/v1'
export const FABRIC_BASE = '/fabric/v1'
export const PORTCULLIS_BASE = '/portcullis/v1'
/** Where the paths of each API begin. */
export const BASES = {
  client: CLIENT_BASE,
  management: MANAGEMENT_BASE,
  fabric: FABRIC_BASE,
  portcullis: PORTCULLIS_BASE,
  openid: OIDC_BASE,
} as const
/** The path at which monitors ask, below any version or none. */
const HEALTH_CHECKS = '/health-checks'
export const HEALTH_CHECKS_BASE = `${HEALTH_CHECKS}/v1`

export interface ApiPath {
  readonly api: 'client' | 'management' | 'fabric' | 'portcullis'
  /** The path below the API's base, beginning with a slash. */
  readonly path: string
}

/**
 * Finds the API of a path. The client API is the default: un-versioned paths and the legacy prefix `/edge/v1` are its
 * aliases, so that clients may call `/version` or `/enroll` before they know any prefix.
 */
export function apiPathOf(pathname: string): ApiPath {
  const path = cleaned(pathname)
  const below = (base: string) => (path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : undefined)
  const management = below(MANAGEMENT_BASE)
  if (management !== undefined) return { api: 'management', path: management || '/' }
  const fabric = below(FABRIC_BASE)
  if (fabric !== undefined) return { api: 'fabric', path: fabric || '/' }
  const portcullis = below(PORTCULLIS_BASE)
  if (portcullis !== undefined) return { api: 'portcullis', path: portcullis || '/' }
  const health = below(HEALTH_CHECKS)
  if (health !== undefined) return { api: 'client', path: `${HEALTH_CHECKS}${raftPathIn(health)}` }
  const client = below(CLIENT_BASE) ?? below('/edge/v1') ?? path
  return { api: 'client', path: client || '/' }
}

/** Deployed controllers answer all paths of health checks alike, except for paths with this ending. */
function raftPathIn(path: string): string {
  const RAFT = '/controller/raft'
  return path.endsWith(RAFT) ? RAFT : ''
}

/** The path below the base of the OpenID provider; `undefined` for a path of another API. Every path with its prefix is its own. */
export function openIdPathOf(pathname: string): string | undefined {
  const path = cleaned(pathname)
  if (path === OIDC_BASE || path.startsWith(`${OIDC_BASE}/`)) return path.slice(OIDC_BASE.length)
  return path.startsWith(OIDC_BASE) ? path : undefined
}

const HAS_EMPTY_SEGMENT = /\/\/|.\/$/

/** Empty segments do not count. */
function cleaned(pathname: string): string {
  if (!HAS_EMPTY_SEGMENT.test(pathname)) return pathname
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return `/${segments.join('/')}`
}
