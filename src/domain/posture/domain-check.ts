import type { DomainCheck } from './posture-check.ts'
import type { PostureData } from './posture-data.ts'

/** True when the endpoint reported one of the domains, in any case. Spaces count. */
export function passesDomainCheck(check: DomainCheck, data: PostureData): boolean {
  if (data.domain === null) return false
  const reported = foldCase(data.domain.domain)
  return check.domains.some((domain) => foldCase(domain) === reported)
}

/** Upper case first, because lower case alone keeps the two small forms of a Greek sigma apart. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase()
}
