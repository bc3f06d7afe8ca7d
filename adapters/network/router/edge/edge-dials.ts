import type { LoopTurns } from '../../../../src/concurrency/loop-turns.ts'
import { runtime } from '../../../../src/concurrency/process-runtime.ts'
import type { FromRouter, ToRouter } from '../../../../src/control-channel.ts'
import { type ConnectionTable, EDGE_ERROR, type EdgeRefusal, PEER_DATA } from '../../../../src/data-plane.ts'
import type { Message } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, newerHeaders, TRUE, textIn } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { readBool, readText, readUint32, textBytes } from '../../channel/header-values.ts'
import type { ConnectedController } from '../state/controllers.ts'
import type { BoundService } from './bound-service.ts'
import { claimIn, LONGEST_TOKEN, NO_TOKEN } from './edge-admission.ts'
import type { EdgeCircuits } from './edge-circuits.ts'
import { EdgeConnection } from './edge-connection.ts'
import type { EdgePosture } from './edge-posture.ts'
import { closedMessage, type EdgeClient, type Endpoint, xgressHeaders } from './endpoint.ts'

type Created = Extract<ToRouter, { type: 'circuit-created' }>
type CircuitRequest = Extract<FromRouter, { type: 'create-circuit' }>
type Entry = EdgeConnection | BoundService

/** The headers of a dial that the controller passes on to the other end. */
const PEER_HEADERS = [EDGE_HEADER.publicKey, EDGE_HEADER.callerName, EDGE_HEADER.applicationData, EDGE_HEADER.marker]

/** The most requests for a circuit that posture refuses: a report may arrive meanwhile and let it pass. */
const MOST_ATTEMPTS = 2

/** The parts of a router that dials need. */
export interface DialParts {
  readonly circuits: EdgeCircuits
  /** Dials of all endpoints share a slice of each turn of the event loop: ten thousand at once would hold it for half a second. */
  readonly turns: Pick<LoopTurns, 'begin'>
  /** A controller to ask; undefined without a connected controller. */
  controller(): ConnectedController | undefined
  readonly posture: Pick<EdgePosture, 'refusal' | 'explained' | 'settled'>
  /** The service that a dial names by id or name. */
  serviceId(headers: ReadonlyMap<number, Uint8Array>): string
}

/** The dials of one endpoint: a controller lays the circuit of each, and the endpoint learns how that went. */
export class EdgeDials {
  readonly #parts: DialParts
  readonly #endpoint: Endpoint<Entry>
  readonly #table: ConnectionTable<Entry>

  constructor(parts: DialParts, endpoint: Endpoint<Entry>, table: ConnectionTable<Entry>) {
    this.#parts = parts
    this.#endpoint = endpoint
    this.#table = table
  }

  /** Follows a dial to its answer. The endpoint may give it up meanwhile, and the circuit then ends. */
  async dial(message: Frame): Promise<void> {
    const { headers } = message
    const id = readUint32(headers, EDGE_HEADER.connection)
    if (id === undefined) return this.#refuse(message, 0, { text: 'a dial without connection id' })
    const usesXgress = readBool(headers, EDGE_HEADER.usesXgress) ?? false
    const { circuits } = this.#parts
    const isV2 = message.contentType === EDGE_TYPE.connectV2
    const serviceId = isV2 ? this.#parts.serviceId(headers) : claimIn(textIn(message), 'sub')
    const connection = new EdgeConnection(this.#endpoint, circuits, { id, side: 'ingress', usesXgress, serviceId })
    const problem = this.#table.dial(id, connection)
    if (problem !== undefined) {
      const text = problem === 'taken' ? `connection id ${id} is in use` : 'too many connections'
      return this.#refuse(message, id, { text, hint: 'too-busy' })
    }
    const begunAt = circuits.now
    await this.#parts.turns.begin()()
    const answer = await this.#createCircuit(message, serviceId)
    const isWanted = this.#table.open(id, connection)
    if (answer.type === 'refused') {
      if (isWanted) this.#endpoint.release(id, connection)
      return this.#refuse(message, id, answer.refusal, answer.circuitId)
    }
    const { created, controller } = answer
    const isThere = circuits.forwarder.controllerOf(created.circuitId) !== undefined
    if (!isWanted || !isThere) {
      if (isWanted) this.#endpoint.release(id, connection)
      circuits.unwanted(created.circuitId, controller.id)
      return this.#refuse(message, id, { text: 'the circuit ended while it was laid' }, created.circuitId)
    }
    this.#endpoint.reply(message, connected(message, connection, created, controller), 'data')
    circuits.dialed(connection, created.circuitId, created.address, circuits.now - begunAt)
  }

  async #createCircuit(message: Frame, serviceId: string) {
    const { headers } = message
    const { client } = this.#endpoint
    const isV2 = message.contentType === EDGE_TYPE.connectV2
    if (isV2 && !client.isBearer) {
      const text = 'a dial without service session needs an api session of access tokens'
      return refused({ text, code: EDGE_ERROR['invalid-api-session-type'] })
    }
    const sessionToken = isV2 ? undefined : textIn(message)
    if ((sessionToken?.length ?? 0) > LONGEST_TOKEN) return refused(NO_TOKEN)
    const { posture } = this.#parts
    await posture.settled(client)
    const controller = this.#parts.controller()
    if (controller === undefined) return refused({ text: 'the router has no controller', hint: 'too-busy' })
    const refusal = posture.refusal(client, serviceId, 'Dial')
    if (refusal !== undefined) return refused(refusal)
    const request: CircuitRequest = {
      type: 'create-circuit',
      sessionToken,
      apiSessionToken: client.token,
      identityId: client.session.identityId,
      serviceId: isV2 ? serviceId : '',
      circuitId: undefined,
      instanceId: readText(headers, EDGE_HEADER.instance) ?? '',
      peerData: peerData(message, client),
    }
    try {
      for (let attempt = 1; ; attempt += 1) {
        // Controllers of the line 2.0 answer no request without a service session that names no circuit.
        const created = await controller.ask(isV2 ? { ...request, circuitId: runtime.uuid() } : request)
        if (created?.type === 'circuit-created') return { type: 'created' as const, created, controller }
        if (created?.type !== 'refusal') return refused({ text: 'the controller did not answer' })
        const { code, hint, message: text, circuitId } = created
        const why = { text, hint, code: EDGE_ERROR[code] }
        const refusal = await posture.explained(this.#endpoint, { serviceId, type: 'Dial' }, why)
        if (refusal !== undefined || attempt === MOST_ATTEMPTS) return refused(refusal ?? why, circuitId)
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return refused({ text: `the controller did not answer: ${reason}`, hint: 'too-busy' })
    }
  }

  #refuse(to: Frame, id: number, refusal: EdgeRefusal, circuitId?: string): void {
    this.#endpoint.reply(to, closedMessage(id, refusal, circuitId), 'data')
  }
}

/** The answer to a dial that succeeded, with the data of the host. */
function connected(
  { headers }: Frame,
  connection: EdgeConnection,
  { circuitId, address, peerData }: Created,
  owner: ConnectedController,
): Message {
  const xgress = connection.usesXgress ? xgressHeaders(owner.id, address) : []
  return edgeMessage(EDGE_TYPE.stateConnected, connection.id, [
    [EDGE_HEADER.circuit, textBytes(circuitId)],
    [EDGE_HEADER.publicKey, peerData.get(EDGE_HEADER.publicKey)],
    [EDGE_HEADER.stickiness, peerData.get(PEER_DATA.stickiness)],
    [EDGE_HEADER.assignedConnection, readBool(headers, EDGE_HEADER.assignedConnection) ? TRUE : undefined],
    ...newerHeaders(peerData),
    ...xgress,
  ])
}

/** Facts of the dialer for the host: some that it says itself, and its identity, for which the router vouches. */
function peerData({ headers }: Frame, { session, name }: EdgeClient): ReadonlyMap<number, Uint8Array> {
  const data = new Map<number, Uint8Array>(newerHeaders(headers))
  for (const key of PEER_HEADERS) {
    const value = headers.get(key)
    if (value !== undefined) data.set(key, value)
  }
  const stickiness = headers.get(EDGE_HEADER.stickiness)
  if (stickiness !== undefined) data.set(PEER_DATA.stickiness, stickiness)
  data.set(PEER_DATA.dialerId, textBytes(session.identityId))
  data.set(PEER_DATA.dialerName, textBytes(name))
  return data
}

function refused(refusal: EdgeRefusal, circuitId?: string) {
  return { type: 'refused' as const, refusal, circuitId }
}
