import fc from 'fast-check'
import { createPkiMaterial, type PkiMaterial } from 'portcullis'
import { beforeAll, expect, it } from 'vitest'
import { certificatesIn, createSigningRequest } from '../../adapters/network/enrollment/index.ts'
import { patience, runs } from '../support/property-runs.ts'
import { administering, type ControllerProcess, clientsOf, MortalNetwork } from './mortal-network.ts'
import { MortalPair } from './mortal-pair.ts'
import { anyFaultAt, faultsAt, type PlacedFault } from './placed-fault.ts'

const NOW = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
const DEVICES = 3
/** Steps of a rotation and of its campaign. */
const AGREEMENTS = ['write', 'insert', 'update', 'scan', 'find']
const anyDeed = fc.record({
  at: fc.constantFrom(0, 1),
  what: fc.constantFrom('root', 'signing', 'ends former', 'starts again', 'waits'),
})

type Deed = Readonly<{ at: number; what: 'root' | 'signing' | 'ends former' | 'starts again' | 'waits' }>

/** A rotation, and the time within which its campaign begins. */
const CAMPAIGN: Deed[] = [
  { at: 0, what: 'signing' },
  { at: 0, what: 'waits' },
]

/** The first searches for holders of certificates fail, or are the last step of their process. */
function inSearches(...ways: readonly ('fails' | 'dies')[]): PlacedFault[] {
  return ways.map((way, at) => ({ place: { of: 'scan', at }, way, isDone: false, forMs: MINUTE_MS }))
}

let pki: PkiMaterial
beforeAll(async () => {
  pki = await createPkiMaterial({ hosts: ['controller.test'], trustDomain: 'controller.test', now: NOW })
})

/** Enrolls a device at a process; answers its certificates. */
async function enrolled(process: ControllerProcess, name: string): Promise<readonly Uint8Array[]> {
  const { id, jwt } = await process.controller.invite(name)
  const { jti } = JSON.parse(Buffer.from(String(jwt.split('.')[1]), 'base64url').toString())
  const { csr } = await createSigningRequest(id)
  const { data } = await clientsOf(process).client.call('POST /enroll/ott', { body: { token: jti, clientCsr: csr } })
  return certificatesIn(data.cert)
}

async function logsIn(process: ControllerProcess, chain: readonly Uint8Array[]) {
  const { client } = clientsOf(process, undefined, chain)
  return (await client.call('POST /authenticate', { query: { method: 'cert' }, body: {} })).data
}

/** Two processes at which an operator changes keys. */
class Pair extends MortalPair {
  constructor() {
    super(new MortalNetwork(pki, NOW))
  }

  async does({ at, what }: Deed): Promise<void> {
    const process = await this.at(at)
    if (process === undefined) return
    if (what === 'starts again') process.life.isDead = true
    if (what === 'waits') await this.network.elapse(MINUTE_MS)
    if (what === 'root' || what === 'signing') await this.#asked(process, what)
    if (what === 'ends former') await this.#ended(process)
  }

  async #asked(process: ControllerProcess, what: 'root' | 'signing'): Promise<void> {
    const asking = async () => {
      const { portcullis } = await administering(process)
      await portcullis.call('POST /pki/rotations', { body: { what } })
    }
    await this.network.outcome(process.life, asking())
  }

  /** An operator shortens the time of the earliest authority, while nobody is locked out by it. */
  async #ended(process: ControllerProcess): Promise<void> {
    const ending = async () => {
      const { portcullis } = await administering(process)
      const { authorities } = (await portcullis.call('GET /pki')).data
      const [earliest] = authorities
      if (authorities.length < 2 || earliest === undefined) return
      const goodUntil = new Date(this.network.clock.now() + 365 * 24 * 60 * MINUTE_MS).toISOString()
      const params = { id: earliest.id }
      await portcullis.call('PATCH /pki/authorities/{id}', { params, body: { goodUntil } })
    }
    await this.network.outcome(process.life, ending())
  }
}

it(
  'processes agree on the authorities, ask every device, and lock nobody out, whatever step of a rotation fails, hangs or is the last',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyDeed, { minLength: 1, maxLength: 4 }),
        fc.array(anyFaultAt(AGREEMENTS), { minLength: 1, maxLength: 4 }),
        async (deeds, faults) => {
          const pair = new Pair()
          const first = await pair.settled(0)
          await pair.settled(1)
          const devices: (readonly Uint8Array[])[] = []
          for (let number = 0; number < DEVICES; number += 1) devices.push(await enrolled(first, `device ${number}`))
          pair.network.faultOf = faultsAt(faults)
          for (const deed of deeds) await pair.does(deed)
          pair.network.faultOf = () => undefined
          // A process whose storage never answers it is ended by its owner.
          if (faults.some(({ way, forMs }) => way === 'hangs' && forMs === Number.POSITIVE_INFINITY)) pair.kill()
          const both = [await pair.settled(0), await pair.settled(1)] as const
          await pair.network.elapse(5 * MINUTE_MS)
          const shown = await Promise.all(
            both.map(async (process) => (await (await administering(process)).portcullis.call('GET /pki')).data),
          )
          expect(shown[0]?.authorities).toEqual(shown[1]?.authorities)
          expect(both[0].controller.caPem).toBe(both[1].controller.caPem)
          const latest = shown[0]?.authorities.at(-1)
          if (latest !== undefined && shown[0]?.authorities.length !== 1) expect(latest.askedAt).not.toBe(null)
          for (const [place, process] of both.entries()) {
            const elsewhere = both[1 - place] ?? process
            const later = await enrolled(process, `later ${place}`)
            await logsIn(elsewhere, later)
            for (const chain of devices) {
              const { isCertExtendRequested } = await logsIn(process, chain)
              if ((shown[0]?.authorities.length ?? 0) > 1) expect(isCertExtendRequested).toBe(true)
            }
          }
          await pair.network.close()
        },
      ),
      {
        ...runs(25, 3),
        // The status of the keys is not answered, and neither process asks the devices at its first try.
        examples: [
          [CAMPAIGN, inSearches('fails', 'fails', 'fails')],
          [CAMPAIGN, inSearches('fails', 'fails', 'dies')],
        ],
      },
    )
  },
  patience(900_000),
)
