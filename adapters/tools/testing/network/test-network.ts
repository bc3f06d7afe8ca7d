import { checkArgument, didYouMean } from '../../../../src/base/arguments.ts'
import { listed, quoted } from '../../../../src/base/text.ts'
import { SPAN } from '../fake-clock.ts'
import { NetworkPath, type PathTime } from './network-path.ts'

/**
 * The connections of a test controller, and their faults. Ends are `controller` (and `controller-2` …), `router`, and an identity by the
 * name that `as` or `enroll` got. Identities reach controllers and the router, the router controllers, and controllers each other. Delays
 * follow the clock of the test.
 */
export interface TestNetwork {
  /**
   * Ends the connections between two ends at once, as a reset does, and lets none open until {@link TestNetwork.heal}.
   *
   * @example
   * net.network.cut('laptop', 'router')
   */
  cut(one: string, other: string): void
  /**
   * Has every message between two ends take `milliseconds` longer, either way; 0 ends the delay. A request that waits goes on when the test
   * turns the clock: do not await it before.
   *
   * @example
   * net.network.delay('laptop', 'router', 200)
   */
  delay(one: string, other: string, milliseconds: number): void
  /**
   * Lets nothing arrive between the ends of both sides. Connections stay, and no end learns of it. Messages under way arrive after
   * {@link TestNetwork.heal}.
   *
   * @example
   * net.network.partition(['laptop', 'router'], 'controller')
   */
  partition(side: string | readonly string[], other: string | readonly string[]): void
  /**
   * Ends the faults between two ends; without them all faults of the network.
   *
   * @example
   * net.network.heal()
   */
  heal(one?: string, other?: string): void
}

/** The first controller. */
export const CONTROLLER = 'controller'
const ROUTER = 'router'

/** The paths between the ends of a test controller. */
export class TestPaths implements TestNetwork {
  readonly #time: PathTime
  readonly #paths = new Map<string, NetworkPath>()
  /** Ends by each of their names. */
  readonly #ends: Map<string, string>
  readonly #controllers: readonly string[]

  constructor(time: PathTime, controllers: readonly string[]) {
    this.#time = time
    this.#controllers = controllers
    this.#ends = new Map(controllers.map((name) => [name, name]))
  }

  /** An end by the names that a test may use for it; answers the name of its paths. */
  join(...names: readonly [string, ...string[]]): string {
    const known = names.map((name) => this.#ends.get(name)).find((end) => end !== undefined)
    const end = known ?? names[0]
    for (const name of names) if (!this.#ends.has(name)) this.#ends.set(name, end)
    return end
  }

  /** The path between two ends, which may be named before there is a connection. */
  between(one: string, other: string): NetworkPath {
    const key = JSON.stringify([one, other].sort())
    const path = this.#paths.get(key) ?? new NetworkPath(this.#time)
    this.#paths.set(key, path)
    return path
  }

  /** Ends all connections of an end; new ones open. */
  reset(end: string): void {
    for (const [key, path] of this.#paths) if (JSON.parse(key).includes(end)) path.reset()
  }

  cut(one: string, other: string): void {
    this.#named('cut', one, other).cut()
  }

  delay(one: string, other: string, milliseconds: number): void {
    checkArgument('network.delay', 'milliseconds', milliseconds, SPAN)
    this.#named('delay', one, other).delay(milliseconds)
  }

  partition(side: string | readonly string[], other: string | readonly string[]): void {
    const paths = [side].flat().flatMap((one) => [other].flat().map((two) => this.#named('partition', one, two)))
    for (const path of paths) path.silence()
  }

  heal(one?: string, other?: string): void {
    if (one === undefined || other === undefined) for (const path of this.#paths.values()) path.heal()
    else this.#named('heal', one, other).heal()
  }

  #named(method: string, one: string, other: string): NetworkPath {
    const [first, second] = [one, other].map((name) => {
      const end = this.#ends.get(name)
      if (end !== undefined) return end
      const known = [...this.#ends.keys()]
      const ends = listed(known.map((each) => quoted(each)))
      throw new TypeError(
        `network.${method}: there is no end ${quoted(String(name))}${didYouMean(String(name), known)}: as and enroll name identities; there are ${ends}`,
      )
    })
    const isReached = (name = '') => name === ROUTER || this.#controllers.includes(name)
    const isMet = first !== second && (isReached(first) || isReached(second))
    if (first === undefined || second === undefined || !isMet) {
      throw new TypeError(
        `network.${method}: nothing connects ${quoted(one)} and ${quoted(other)}: identities reach controllers and the router, the router reaches controllers, and controllers reach each other`,
      )
    }
    return this.between(first, second)
  }
}
