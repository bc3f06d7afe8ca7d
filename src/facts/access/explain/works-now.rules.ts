import { fewOf, quoted } from '../../../base/text.ts'
import { instant } from '../../../base/time.ts'
import type { AccessType } from '../index/index.ts'
import type {
  EdgeRouterExplanation,
  FailedDial,
  RouterState,
  WireExplanation,
  WireFacts,
  WireObstacle,
} from './explanation.rules.ts'
import type { DialFailure, ServiceReach } from './service-reach.rules.ts'

/** Reports whether a new connection would work: a bind needs an edge router, a dial also needs a path to a host. */
export function worksNow(
  allowed: boolean,
  type: AccessType,
  { online }: Pick<EdgeRouterExplanation, 'online'>,
  { obstacle: onTheWay, ...facts }: WireFacts,
): WireExplanation {
  const obstacle = firstObstacle(allowed, online.length > 0, type === 'Dial' ? onTheWay : undefined)
  return { worksNow: obstacle === null, obstacle, ...facts }
}

function firstObstacle(allowed: boolean, isOnline: boolean, onTheWay: ServiceReach['obstacle']): WireObstacle | null {
  if (!allowed) return 'not-allowed'
  return isOnline ? (onTheWay ?? null) : 'all-common-edge-routers-offline'
}

/** The most routers that one sentence names. */
const MOST_NAMES = 5

/** Renders the result as sentences: whether a connection works now, and the failure of the last dial. */
export function worksNowLines(wire: WireExplanation, { common, online }: EdgeRouterExplanation): readonly string[] {
  const { lastFailure } = wire
  const now = wire.obstacle === null ? 'It works now.' : `It does not work now: ${obstacleText(wire.obstacle)}.`
  return lastFailure === null ? [now] : [now, failureText(lastFailure)]

  function obstacleText(obstacle: WireObstacle): string {
    switch (obstacle) {
      case 'not-allowed':
        return 'it is not allowed'
      case 'all-common-edge-routers-offline':
        return `their common edge routers are offline${inBrackets(common)}`
      case 'no-terminators':
        return 'the service has no terminator that is dialed without the name of an instance'
      case 'hosts-may-not-bind':
        return 'the identities that host the service may not bind it now'
      case 'no-online-terminators':
        return `the routers of its terminators are offline${inBrackets(wire.hostRouters)}`
      case 'no-terminators-here':
        return `the routers of its terminators are connected to other controllers only${inBrackets(wire.hostRouters)}`
      case 'no-path':
        return `no links lead from ${named(online)} to a router of its terminators${inBrackets(wire.hostRouters)}`
    }
  }
}

/** Empty without a router to name: hosts may be at transit routers. */
function inBrackets(routers: readonly RouterState[]): string {
  return routers.length === 0 ? '' : ` (${named(routers)})`
}

function named(routers: readonly RouterState[]): string {
  return fewOf(
    routers.map(({ name }) => quoted(name)),
    MOST_NAMES,
  )
}

function failureText({ at, reason, cause, router }: FailedDial): string {
  const by = router === null ? '' : ` at ${quoted(router.name)}`
  const why = cause === null ? DIAL_FAILURE_TEXTS[reason] : ROUTER_FAILURE_TEXTS[cause]
  return `The last dial failed on ${instant(at).toISOString()}${by}: ${why}.`
}

/** The reason of a failed dial, after a colon. */
export const DIAL_FAILURE_TEXTS: Readonly<Record<DialFailure['reason'], string>> = {
  'no-terminators': 'there was no terminator',
  'no-online-terminators': 'the routers of the terminators were offline',
  'no-terminators-here': 'the routers of the terminators were connected to other controllers only',
  'no-path': 'no links led to a router of the terminators',
  'routers-failed': 'routers did not lay the circuit',
  refused: 'the service asks for encryption, and one end offered none',
}

type Cause = NonNullable<DialFailure['cause']>

/** The reason of a failed router, after a colon. */
export const ROUTER_FAILURE_TEXTS: Readonly<Record<Cause, string>> = {
  generic: 'the router gave no reason that is known',
  'invalid-terminator': 'the router does not know the terminator',
  'misconfigured-terminator': 'the terminator is misconfigured',
  'dial-timed-out': 'the host did not answer in time',
  'connection-refused': 'the host refused the connection',
  'rejected-by-application': 'the application that hosts the service rejected it',
  'dns-failure': 'the name of the host was not found',
  'port-not-allowed': 'the port is not allowed',
  'invalid-link': 'the router does not know the link',
  'no-resources': 'the router had no resources left',
  'no-answer': 'the router did not answer in time',
  disconnected: 'the router went offline',
}

/** The words for failed dials and their causes. */
export const DIAL_FAILURES = wordsOf(DIAL_FAILURE_TEXTS)
export const DIAL_FAILURE_CAUSES = wordsOf(ROUTER_FAILURE_TEXTS)

function wordsOf<Word extends string>(texts: Readonly<Record<Word, string>>): readonly Word[] {
  // The keys of such a record are its words.
  return Object.keys(texts) as Word[]
}
