import { listed, quoted } from '../../../../base/text.ts'
import {
  listedOn,
  missingReport,
  type PostureCheckBase,
  type PostureCheckKind,
  storedHexList,
} from './posture-check-kind.ts'
import { includesAnyHex, normaliseHexList, type Report, type ReportView, reportOf, reportView } from './posture-data.ts'

/** The endpoint has one of the MAC addresses. */
export interface MacCheck extends PostureCheckBase {
  readonly typeId: 'MAC'
  readonly macAddresses: readonly string[]
}

/** The MAC addresses an endpoint reported, normalised. */
export interface ReportedMac extends Report {
  readonly addresses: readonly string[]
}

/** A report of an endpoint's MAC addresses. */
export interface MacResponse {
  readonly id: string
  readonly typeId: 'MAC'
  readonly macAddresses: readonly string[]
}

export interface MacTypes {
  readonly check: MacCheck
  readonly reports: { readonly mac: ReportedMac | null }
  readonly response: MacResponse
  readonly failure: { readonly actualValue: readonly string[]; readonly expectedValue: readonly string[] }
  readonly view: { readonly mac: ReportView & { readonly addresses: readonly string[] | null } }
}

/** The MAC addresses, whatever separators each side uses. */
export const MAC: PostureCheckKind<MacTypes> = {
  schemaName: 'MacAddress',
  listed: listedOn('MAC Address Check', ['Android', 'Linux', 'Windows', 'macOS']),
  members: { macAddresses: { absent: [], stored: (given) => storedHexList(given) } },
  nothingReported: { mac: null },
  response: {
    typeId: 'MAC',
    schemaName: 'MacAddress',
    reported(_data, responses, _apiSessionId, now) {
      const last = responses.at(-1)
      if (last === undefined) return {}
      return { mac: { ...reportOf(last, now), addresses: normaliseHexList(last.macAddresses) } }
    },
  },
  fulfilledBy: 'endpoint',
  passes: (check, { mac }) => mac !== null && includesAnyHex(mac.addresses, check.macAddresses),
  failure: (check, { mac }) => ({ actualValue: mac?.addresses ?? [], expectedValue: check.macAddresses }),
  isKnown: (_check, { mac }) => mac !== null,
  missing: (_check, { mac }) => missingReport(mac),
  expectedWords: (expected) => expected.map(quoted),
  actualWords: (actual) => (actual.length === 0 ? 'none' : listed(actual.map(quoted))),
  view: ({ mac }) => ({ mac: { ...reportView(mac), addresses: mac?.addresses ?? null } }),
}
