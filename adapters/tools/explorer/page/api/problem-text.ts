import { ApiError } from '../../../../../src/client/index.ts'

/** Explains an error to people: by the controller's words, or that it was not reached. */
export function problemText(problem: unknown): string {
  if (problem instanceof ApiError) {
    if (problem.status === 401) return 'You may not see or do this: the controller refused it.'
    return problem.message
  }
  if (problem instanceof TypeError) return 'The controller was not reached.'
  return problem instanceof Error ? problem.message : String(problem)
}
