import fc from 'fast-check'
import type { Fault, Step } from './mortal-identity.ts'

const MINUTE_MS = 60_000

/** A fault and the step where it comes: the one of that number among those whose names end with `of`. */
export type PlacedFault = Fault & { readonly place: { readonly of: string; readonly at: number } }

/** Any fault at any step, or at one of the kinds that are named. */
export function anyFaultAt(kinds: readonly string[]): fc.Arbitrary<PlacedFault> {
  return fc.record({
    place: fc.oneof(
      fc.record({ of: fc.constant(''), at: fc.nat(40) }),
      fc.record({ of: fc.constantFrom(...kinds), at: fc.nat(2) }),
    ),
    way: fc.constantFrom('fails', 'hangs', 'dies'),
    isDone: fc.boolean(),
    forMs: fc.constantFrom(1000, MINUTE_MS, Number.POSITIVE_INFINITY),
  })
}

/** Finds the fault of each step as it comes. */
export function faultsAt(faults: readonly PlacedFault[]): (step: Pick<Step, 'name'>) => Fault | undefined {
  const left = faults.map((fault) => ({ fault, until: fault.place.at }))
  return ({ name }) => {
    let found: Fault | undefined
    for (const one of left.filter(({ fault }) => name.endsWith(fault.place.of))) {
      if (one.until === 0) found ??= one.fault
      one.until -= 1
    }
    return found
  }
}
