import { ApiError } from '../../../../../src/client/index.ts'

/** The beginning of the text for what the controller refused. */
export const REFUSED = 'You may not see or do this'

/** Explains an error to people: by the controller's words, or that it was not reached. */
export function problemText(problem: unknown): string {
  if (problem instanceof ApiError) {
    if (problem.status === 401) return `${REFUSED}${permissionIn(problem)}`
    // The status and the code are for programs.
    return problem.message.replace(/^\d{3}( [A-Z_]+)?: /, '')
  }
  if (problem instanceof TypeError) return 'The controller was not reached.'
  return problem instanceof Error ? problem.message : String(problem)
}

/** Reports whether the controller is away or has too much to do: the same question may be answered soon. */
export function isPassing(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof ApiError && (error.status === 429 || error.status >= 500))
}

/** The permission that is missing, where the controller names it. */
function permissionIn({ details }: ApiError): string {
  const [, permission] = /^it takes the permission (\S+)$/.exec(String(details?.message)) ?? []
  return permission === undefined ? ': the controller refused it.' : `: it takes the permission ${permission}.`
}
