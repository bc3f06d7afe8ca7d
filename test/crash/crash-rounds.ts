import { type Ledger, writeUntilGone } from './concurrent-writers.ts'
import { expectAcknowledged, expectIntegrity, expectWhole } from './crash-checks.ts'
import { serveOn } from './served-controller.ts'

/** How many writes all rounds had acknowledged. */
export interface CrashOutcome {
  readonly acknowledged: number
}

/** Every such round is killed at its time, whether or not a write was answered. */
const EARLY = 4

/** Milliseconds of writing before the kill, different in each round. */
const writingTime = (round: number) => 30 + ((round * 67) % 220)

/**
 * Kills a serving process several times during concurrent writes, starts the next on the same storage, and checks after each
 * start what the writers were told.
 */
export async function runCrashRounds(storage: string, cwd: string, rounds: number): Promise<CrashOutcome> {
  const ledger: Ledger = new Map()
  let acknowledged = 0
  let controller = await serveOn(storage, cwd)
  for (let round = 1; round <= rounds; round += 1) {
    const prefix = `r${round}-`
    const begun = Promise.withResolvers<void>()
    const writing = writeUntilGone(controller, prefix, ledger, begun.resolve)
    // On a busy machine the time of a round is over before the first answer: most kills come behind it.
    if (round % EARLY !== 0) await Promise.race([begun.promise, writing])
    await Promise.race([new Promise((resolve) => setTimeout(resolve, writingTime(round))), writing])
    await controller.kill()
    acknowledged += await writing
    controller = await serveOn(storage, cwd, controller.token)
    await expectAcknowledged(controller, ledger, prefix)
    await expectWhole(controller)
    await expectIntegrity(controller)
  }
  // A write that survived one round must not be lost in a later one.
  await expectAcknowledged(controller, ledger, 'r')
  await controller.kill()
  return { acknowledged }
}

/** The rounds that `PORTCULLIS_CRASH_ROUNDS` says for a storage (`sqlite=1000,postgres=200`), or those of `npm test`. */
export function roundsOf(storage: 'sqlite' | 'postgres', short: number): number {
  const found = new RegExp(`${storage}=(\\d+)`).exec(process.env.PORTCULLIS_CRASH_ROUNDS ?? '')
  return found === null ? short : Number(found[1])
}
