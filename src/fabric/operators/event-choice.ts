import { z } from 'zod'

/** The form in which a subscriber gets events of a kind. */
export interface EventChoice {
  /** The kind, as it is called now. */
  readonly kind: string
  /** The namespace of the events that are sent: the name in the subscription. */
  readonly namespace: string
  /** The form of events that come in two forms. */
  readonly version: 2 | 3
  /** Whether a type of event, an entity or a direction is wanted. */
  readonly includes: (what: string) => boolean
}

/** Names of kinds before they were shortened. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  'edge.apiSessions': 'apiSession',
  'edge.sessions': 'session',
  'edge.entityCounts': 'entityCount',
  'edge.authentications': 'authentication',
  'fabric.routers': 'router',
  'fabric.terminators': 'terminator',
  'fabric.circuits': 'circuit',
  'fabric.links': 'link',
  'fabric.usage': 'usage',
  services: 'service',
}
/** The namespace that is sent where it differs from the former name in the subscription. */
const TOLD_AS: Readonly<Record<string, string>> = { services: 'service.events' }
/** The member that `include` filters, by kind; for usage it is the direction. */
const INCLUDED: Readonly<Record<string, string>> = {
  apiSession: 'event_type',
  circuit: 'event_type',
  session: 'event_type',
}
const LONGEST_LIST = 64

const Include = z.union([z.string().transform((one) => [one]), z.array(z.string()).max(LONGEST_LIST)]).optional()
const Version = z.enum(['2', '3'])

/** The kind of a present or former name. */
export function kindOf(type: string): string {
  return FORMER_NAMES[type] ?? type
}

/** Reads the options of a subscription; answers a problem for invalid options. */
export function readChoice(
  type: string,
  options: Readonly<Record<string, unknown>>,
): EventChoice | { readonly problem: string } {
  const kind = kindOf(type)
  const include = Include.safeParse(options.include)
  if (!include.success) return { problem: `invalid include of ${type}: a list of names is needed` }
  // Programs send a number, configurations a text.
  const version = Version.safeParse(String(kind === 'usage' ? (options.version ?? 2) : 2))
  if (!version.success) return { problem: `unsupported usage version: ${String(options.version)}` }
  const wanted = new Set(include.data)
  return {
    kind,
    namespace: TOLD_AS[type] ?? type,
    version: version.data === '2' ? 2 : 3,
    includes: (what) => wanted.size === 0 || wanted.has(what),
  }
}

/** Whether a subscriber wants an event, by its members. */
export function isChosen({ kind, includes }: EventChoice, members: object): boolean {
  const member = INCLUDED[kind]
  return member === undefined || includes(String(Object(members)[member]))
}
