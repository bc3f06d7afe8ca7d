import type { EdgeListener, LinkListener, ReportedInterface, RouterAlert } from '../../facts/fabric/messages/index.ts'

/**
 * Characters and items that are kept and shown of a router's own words: more than any router has, and too little to fill a
 * memory or a store.
 */
const LONGEST_TEXT = 512
const LONGEST_ALERT = 1024
const MOST_INTERFACES = 64
const MOST_ADDRESSES = 32
const MOST_LISTENERS = 32
const MOST_GROUPS = 16
const MOST_ALERTS = 100
const MOST_DETAILS = 16
const MOST_IDENTITIES = 100_000
const LONGEST_ID = 256

export function boundedInterfaces(interfaces: readonly ReportedInterface[]): readonly ReportedInterface[] {
  return interfaces.slice(0, MOST_INTERFACES).map((reported) => ({
    ...reported,
    name: text(reported.name),
    hardwareAddress: text(reported.hardwareAddress),
    addresses: texts(reported.addresses, MOST_ADDRESSES),
  }))
}

export function boundedLinkListeners(listeners: readonly LinkListener[]): readonly LinkListener[] {
  return listeners.slice(0, MOST_LISTENERS).map(({ address, protocol, groups, localBinding }) => ({
    address: text(address),
    protocol: text(protocol),
    groups: texts(groups, MOST_GROUPS),
    localBinding: text(localBinding),
  }))
}

export function boundedHello(hello: { readonly hostname: string; readonly listeners: readonly EdgeListener[] }) {
  const listeners = hello.listeners.slice(0, MOST_LISTENERS).map(({ protocol, advertise }) => ({
    protocol: text(protocol),
    advertise: text(advertise),
  }))
  return { hostname: text(hello.hostname), listeners }
}

/** Passes over reports whose identity no id can name. */
export function boundedIdentities<T extends { readonly identityId: string }>(identities: readonly T[]): readonly T[] {
  return identities.slice(0, MOST_IDENTITIES).filter(({ identityId }) => identityId.length <= LONGEST_ID)
}

export function boundedAlerts(alerts: readonly RouterAlert[]): readonly RouterAlert[] {
  return alerts.slice(0, MOST_ALERTS).map(({ severity, message, details }) => ({
    severity: text(severity),
    message: message.slice(0, LONGEST_ALERT),
    details: details.slice(0, MOST_DETAILS).map((detail) => detail.slice(0, LONGEST_ALERT)),
  }))
}

function text(value: string): string {
  return value.slice(0, LONGEST_TEXT)
}

function texts(values: readonly string[], most: number): readonly string[] {
  return values.slice(0, most).map(text)
}
