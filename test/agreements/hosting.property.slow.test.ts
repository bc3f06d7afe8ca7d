import fc from 'fast-check'
import { expect, it } from 'vitest'
import { patience, runs } from '../support/property-runs.ts'
import { HostingWorld } from './hosting-world.ts'
import { anyFaultAt, faultsAt, type PlacedFault } from './placed-fault.ts'

const MINUTE_MS = 60_000
/** Messages by which a router and its controller come to agree on a terminator. */
const AGREEMENTS = ['create-terminator', 'update-terminator', 'remove-terminators']
const anyDeed = fc.record({
  what: fc.constantFrom('binds', 'updates', 'unbinds', 'waits'),
  id: fc.constantFrom(1, 2, 3),
})

type Deed = Readonly<{ what: 'binds' | 'updates' | 'unbinds' | 'waits'; id: number }>

/** A host makes itself dearer once its terminator is there, while the controller is away. */
const DEARER: Deed[] = [
  { what: 'binds', id: 1 },
  { what: 'waits', id: 1 },
  { what: 'updates', id: 1 },
]
const AWAY: PlacedFault = { place: { of: 'update-terminator', at: 0 }, way: 'fails', isDone: false, forMs: 1000 }

/** A controller in the process of the router never answers about a terminator. */
const SILENT: PlacedFault = {
  ...{ place: { of: 'create-terminator', at: 0 }, way: 'hangs', isDone: false },
  forMs: Number.POSITIVE_INFINITY,
}

async function does(hosting: HostingWorld, { what, id }: Deed): Promise<void> {
  if (what === 'binds') await hosting.bind(id)
  if (what === 'updates') hosting.update(id)
  if (what === 'unbinds') hosting.unbind(id)
  await hosting.elapse(what === 'waits' ? MINUTE_MS : 10)
}

it(
  'a controller has every terminator of a router as its host last said, or the host has heard, whatever message fails, hangs or loses its answer',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDeed, { minLength: 1, maxLength: 6 }),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 5 }),
        async (deeds, faults) => {
          const hosting = await HostingWorld.open()
          try {
            hosting.faultOf = faultsAt(faults)
            for (const deed of deeds) await does(hosting, deed)
            hosting.faultOf = () => undefined
            await hosting.elapse(5 * MINUTE_MS)
            expect(await hosting.known()).toEqual(hosting.hosted)
          } finally {
            await hosting.close()
          }
        },
      ),
      {
        ...runs(45, 4),
        examples: [
          [DEARER, [AWAY]],
          [DEARER.slice(0, 1), [SILENT]],
        ],
      },
    )
  },
  patience(600_000),
)
