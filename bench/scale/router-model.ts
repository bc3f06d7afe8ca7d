import { modelCodec } from '../../adapters/network/fabric/messages/model-codec.ts'
import { readToRouter, writeMessage } from '../../adapters/network/fabric/messages/rows-to-router.ts'
import { RouterModel } from '../../adapters/network/router/state/router-model.ts'
import { createLoopTurns } from '../../src/data-plane.ts'
import type { ModelEntity, ModelEvent } from '../../src/facts/fabric/messages/index.ts'
import { rowOf, type Watched, watched } from '../hold-watch.ts'
import type { BenchRow } from '../row.ts'

const IDENTITIES = 100_000
const POLICIES = 20
/** Related ids of an event, as controllers of this package write them. */
const IN_EVENT = 1000
const ROUNDS = 5

/** For how long a router of ours holds the event loop while it takes the data model of 100,000 identities, a quarter of them in each policy. */
export async function heldByModel(name: string): Promise<BenchRow> {
  const bytes = Buffer.concat(modelParts())
  const { contentType, headers } = writeMessage({ ...FACTS, events: [] })
  const runs: Watched[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const take = async () => {
      const state = readToRouter({ contentType, headers, sequence: 1, body: [bytes] })
      if (state?.type !== 'model-state') throw new Error('it is a model')
      await new RouterModel(createLoopTurns()).takeState(state)
    }
    runs.push(await watched(take))
  }
  return rowOf(name, runs)
}

const FACTS = { type: 'model-state', index: 1, timelineId: 'line', subscriptionId: 'router' } as const

function modelParts(): readonly Uint8Array[] {
  const idAt = (number: number) => `identity${number}`
  const hosting = { defaultHostingPrecedence: 'default', defaultHostingCost: 0 } as const
  const services = { serviceHostingPrecedences: new Map(), serviceHostingCosts: new Map(), serviceConfigs: new Map() }
  const facts = { ...hosting, ...services, appDataJson: '', disabled: false }
  const parts: Uint8Array[] = []
  const write = (events: readonly ModelEvent[]) => parts.push(modelCodec.state(events))
  const created = (entity: ModelEntity): ModelEvent => ({ action: 'create', entity })
  for (let number = 0; number < IDENTITIES; number += 1) {
    write([created({ type: 'identity', id: idAt(number), name: `name ${number}`, ...facts })])
  }
  for (let policy = 0; policy < POLICIES; policy += 1) {
    const policyId = `policy${policy}`
    write([created({ type: 'service-policy', id: policyId, name: policyId, policyType: 'Dial' })])
    for (let from = policy % 4; from < IDENTITIES; from += 4 * IN_EVENT) {
      const length = Math.min(IN_EVENT, Math.ceil((IDENTITIES - from) / 4))
      const entityIds = Array.from({ length }, (_, at) => idAt(from + 4 * at))
      write([{ action: 'relate', policyId, side: 'identities', entityIds }])
    }
  }
  return parts
}
