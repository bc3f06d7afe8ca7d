/** A command line, environment or file that the command cannot work with: one line for the person who started it. */
export class UsageError extends Error {}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
