import { ControllerError } from '../../base/errors.ts'
import { isStorable } from '../../base/text.ts'
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
  readonly #root: Node = emptyNode()

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) this.#add(operation)
  }

  /** Errors: `NOT_FOUND` for an unknown path, `METHOD_NOT_ALLOWED` for a known one with another verb. */
  match(method: string, path: string): Match {
    const params: Record<string, string> = {}
    let node = this.#root
    for (const segment of segmentsOf(path)) {
      const literal = node.literals.get(segment)
      if (literal !== undefined) {
        node = literal
        continue
      }
      const value = node.parameter && decoded(segment)
      if (node.parameter === undefined || value === undefined) throw new UnknownPath(path)
      params[node.parameter.name] = value
      node = node.parameter.node
    }
    if (node.operations.size === 0) throw new UnknownPath(path)
    const operation = node.operations.get(method)
    if (operation === undefined) {
      const allowed = [...node.operations.keys()].join(',')
      const message = `method ${method} is not allowed, but [${allowed}] are`
      throw new ControllerError('METHOD_NOT_ALLOWED', { code: 'UNHANDLED', message })
    }
    return { operation, params }
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
