import { quoted } from '../../../../base/text.ts'
import {
  listedOn,
  missingReport,
  type PostureCheckBase,
  type PostureCheckKind,
  storedAsGiven,
} from './posture-check-kind.ts'
import { type Report, type ReportView, reportOf, reportView } from './posture-data.ts'

/** The endpoint is a member of one of the Windows domains. */
export interface DomainCheck extends PostureCheckBase {
  readonly typeId: 'DOMAIN'
  readonly domains: readonly string[]
}

/** The Windows domain that an endpoint reported, in its own spelling. */
export interface ReportedDomain extends Report {
  readonly domain: string
}

/** A report of an endpoint's Windows domain. */
export interface DomainResponse {
  readonly id: string
  readonly typeId: 'DOMAIN'
  readonly domain: string
}

export interface DomainTypes {
  readonly check: DomainCheck
  readonly reports: { readonly domain: ReportedDomain | null }
  readonly response: DomainResponse
  readonly failure: { readonly actualValue: string; readonly expectedValue: readonly string[] }
  readonly view: { readonly domain: ReportView & { readonly domain: string | null } }
}

/** The Windows domain, in any case. Spaces count. */
export const DOMAIN: PostureCheckKind<DomainTypes> = {
  schemaName: 'Domain',
  listed: listedOn('Windows Domain Check', ['Windows']),
  members: { domains: { absent: [], stored: storedAsGiven } },
  nothingReported: { domain: null },
  response: {
    typeId: 'DOMAIN',
    schemaName: 'Domain',
    reported(_data, responses, _apiSessionId, now) {
      const last = responses.at(-1)
      return last === undefined ? {} : { domain: { ...reportOf(last, now), domain: last.domain } }
    },
  },
  fulfilledBy: 'endpoint',
  passes(check, { domain }) {
    if (domain === null) return false
    const reported = foldCase(domain.domain)
    return check.domains.some((admitted) => foldCase(admitted) === reported)
  },
  failure: (check, { domain }) => ({ actualValue: domain?.domain ?? '', expectedValue: check.domains }),
  isKnown: (_check, { domain }) => domain !== null,
  missing: (_check, { domain }) => missingReport(domain),
  expectedWords: (expected) => expected.map(quoted),
  actualWords: quoted,
  view: ({ domain }) => ({ domain: { ...reportView(domain), domain: domain?.domain ?? null } }),
}

/** Upper case first, because lower case alone keeps the two small forms of a Greek sigma apart. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase()
}
