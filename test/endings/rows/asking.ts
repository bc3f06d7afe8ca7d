import type { Answered } from '../two-processes.ts'

/** Throws for a refusal. */
export async function must(asked: Promise<Answered>): Promise<void> {
  const { status, body } = await asked
  if (status >= 300 && status !== 302) throw new Error(`${status} ${JSON.stringify(body)}`)
}

/** Throws for a refusal, unless what should end is over. */
export async function mayBeGone(asked: Promise<Answered>): Promise<void> {
  const { status, body } = await asked
  if (status >= 300 && status !== 401 && status !== 404) throw new Error(`${status} ${JSON.stringify(body)}`)
}
