import { toHex } from '../../base/bytes.ts'
import type { EngineContext } from '../../context/context.ts'
import type { ProcessProofs } from '../../facts/fabric/messages/index.ts'

/** The purpose under which proofs are sealed, so that nothing else that is sealed counts as one. */
const PURPOSE = 'controller process'
/** Milliseconds by which the clocks of two machines may differ, with the time that a proof is under way. */
const TOLERANCE_MS = 60_000

/** A process, by an id of its own and by the address at which routers reach it. */
interface OwnProcess {
  readonly processId: string
  readonly address: string
}

/** Proofs of the processes over one store: only they hold the key by which its secrets are sealed. */
export function sealedProofs({ processId, address }: OwnProcess, { clock, sealer }: EngineContext): ProcessProofs {
  return {
    prove: (side, binding) =>
      sealer.seal(JSON.stringify([processId, side, toHex(binding), clock.now(), address]), PURPOSE),
    async verify(proof, side, binding) {
      const text = await sealer.open(proof, PURPOSE).catch(() => undefined)
      if (text === undefined) return undefined
      const [provenId, provenSide, bound, at, provenAddress]: readonly unknown[] = JSON.parse(text)
      const isOther = typeof provenId === 'string' && provenId !== processId
      const isFresh = typeof at === 'number' && Math.abs(clock.now() - at) <= TOLERANCE_MS
      if (!isOther || !isFresh || provenSide !== side || bound !== toHex(binding)) return undefined
      // Processes of version 0.3.0 and before name no address.
      return typeof provenAddress === 'string' ? provenAddress : ''
    },
  }
}
