import { z } from 'zod'

/** Further addresses of a router's control channel, each with the names of its groups. */
export const ControlListeners = z.record(z.string(), z.array(z.string())).default({})

/** Clients write null for an address without groups. */
export function routerSpellings(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { ctrlChanListeners: listeners } = body
  if (typeof listeners !== 'object' || listeners === null || Array.isArray(listeners)) return body
  const spelled = Object.entries(listeners).map(([address, groups]) => [address, groups ?? []])
  return { ...body, ctrlChanListeners: Object.fromEntries(spelled) }
}

/** The names of what routers say that they do, by the number of each. */
const CAPABILITIES: ReadonlyMap<number, string> = new Map([
  [1, 'MULTI_CHANNEL'],
  [2, 'CONNECT_V2'],
  [4, 'SERVICE_SUBSCRIPTIONS'],
  [5, 'POSTURE_CHECKS'],
  [6, 'BIND_SUCCESS'],
])

/** All names of capabilities, in the order of their numbers. */
export const ROUTER_CAPABILITIES: readonly string[] = [...CAPABILITIES.values()]

/** Capabilities by their names; those that have none are left out. */
export function capabilityNames(numbers: readonly number[]): readonly string[] {
  return numbers.flatMap((number) => CAPABILITIES.get(number) ?? [])
}
