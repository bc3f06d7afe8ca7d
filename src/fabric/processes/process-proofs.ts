import { toHex } from '../../base/bytes.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ProcessProofs, ProcessSide } from '../../facts/fabric/messages/index.ts'

/** The purpose under which proofs are sealed, so that nothing else that is sealed counts as one. */
const PURPOSE = 'controller process'
/** Milliseconds by which the clocks of two machines may differ, with the time that a proof is under way. */
const TOLERANCE_MS = 60_000

/** Proofs of the processes over one store: only they hold the key by which its secrets are sealed. */
export class SealedProofs implements ProcessProofs {
  readonly #processId: string
  readonly #context: EngineContext

  constructor(processId: string, context: EngineContext) {
    this.#processId = processId
    this.#context = context
  }

  async prove(side: ProcessSide, binding: Uint8Array): Promise<string> {
    const { clock, sealer } = this.#context
    return sealer.seal(JSON.stringify([this.#processId, side, toHex(binding), clock.now()]), PURPOSE)
  }

  async verify(proof: string, side: ProcessSide, binding: Uint8Array): Promise<string | undefined> {
    const { clock, sealer } = this.#context
    const text = await sealer.open(proof, PURPOSE).catch(() => undefined)
    if (text === undefined) return undefined
    const [processId, provenSide, bound, at]: readonly unknown[] = JSON.parse(text)
    const isOther = typeof processId === 'string' && processId !== this.#processId
    const isFresh = typeof at === 'number' && Math.abs(clock.now() - at) <= TOLERANCE_MS
    return isOther && isFresh && provenSide === side && bound === toHex(binding) ? processId : undefined
  }
}
