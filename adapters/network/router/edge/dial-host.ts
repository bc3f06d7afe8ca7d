import type { Route } from '../../../../src/control-channel.ts'
import { hostFailure, PEER_DATA } from '../../../../src/data-plane.ts'
import { NoAnswer } from '../../channel/conversation.ts'
import { bodyOf, EDGE_HEADER, EDGE_TYPE, edgeMessage, newerHeaders, textIn } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { textBytes, uint32Header } from '../../channel/header-values.ts'
import type { EgressOutcome } from '../forwarder.ts'
import type { BoundService } from './bound-service.ts'
import type { EdgeCircuits } from './edge-circuits.ts'
import { EdgeConnection } from './edge-connection.ts'
import { sharedByHost, xgressHeaders } from './endpoint.ts'

/** A route whose circuit ends at a host of this router. */
type RouteToHost = Route & { readonly egress: NonNullable<Route['egress']> }

/** Milliseconds within which a host must answer a dial. */
const DIAL_MS = 5000

/** Dials the host of a service for a circuit: it answers with its peer data, or the router says why the circuit fails. */
export async function dialHost(
  bound: BoundService,
  route: RouteToHost,
  { circuits, controllerId }: { readonly circuits: EdgeCircuits; readonly controllerId: string },
): Promise<EgressOutcome> {
  const { host, usesXgress, connectionId, serviceId } = bound
  const assigned = bound.assignsIds ? host.freeId() : undefined
  if (bound.assignsIds && assigned === undefined) {
    return { success: false, cause: 'no-resources', message: 'the host has too many connections' }
  }
  const begin = (id: number) => {
    const connection = new EdgeConnection(host, circuits, { id, side: 'egress', usesXgress, serviceId })
    if (!host.accept(id, connection)) return undefined
    circuits.hosting(connection, route)
    return connection
  }
  // Known before the host hears of it: its first bytes come at once.
  const early = assigned === undefined ? undefined : begin(assigned)
  const dial = dialMessage(bound, route, { assigned, controllerId })
  let answer: Frame
  try {
    answer = await host.ask(dial, Math.min(DIAL_MS, route.timeoutMs), () => early?.answered())
  } catch (error) {
    early?.ended('the dial timed out')
    const cause = error instanceof NoAnswer && error.why === 'time-out' ? 'dial-timed-out' : 'connection-refused'
    return {
      success: false,
      cause,
      message: cause === 'dial-timed-out' ? 'the host did not answer' : 'the host is gone',
    }
  }
  if (answer.contentType !== EDGE_TYPE.dialSuccess) {
    const message = textIn(answer) || 'the host refused'
    early?.refused()
    return { success: false, cause: hostFailure(message), message }
  }
  if (early === undefined) {
    const chosen = bodyOf(answer)
    const id = chosen.length < 4 ? undefined : new DataView(chosen.buffer, chosen.byteOffset).getUint32(0, true)
    const late = id === undefined ? undefined : begin(id)
    late?.answered()
    if (late === undefined) {
      return { success: false, cause: 'generic', message: 'the host answered with an id that is in use' }
    }
    host.reply(answer, edgeMessage(EDGE_TYPE.stateConnected, connectionId), 'data')
  }
  return { success: true, peerData: sharedByHost(answer) }
}

function dialMessage(
  { connectionId, token, usesXgress }: BoundService,
  { circuitId, egress: { address, peerData } }: RouteToHost,
  { assigned, controllerId }: { readonly assigned: number | undefined; readonly controllerId: string },
) {
  const xgress = usesXgress ? xgressHeaders(controllerId, address) : []
  return edgeMessage(
    EDGE_TYPE.dial,
    connectionId,
    [
      [EDGE_HEADER.circuit, textBytes(circuitId)],
      [EDGE_HEADER.callerName, peerData.get(EDGE_HEADER.callerName) ?? new Uint8Array(0)],
      [EDGE_HEADER.publicKey, peerData.get(EDGE_HEADER.publicKey)],
      [EDGE_HEADER.applicationData, peerData.get(EDGE_HEADER.applicationData)],
      [EDGE_HEADER.marker, peerData.get(EDGE_HEADER.marker)],
      [EDGE_HEADER.dialerId, peerData.get(PEER_DATA.dialerId)],
      [EDGE_HEADER.dialerName, peerData.get(PEER_DATA.dialerName)],
      [EDGE_HEADER.assignedConnection, assigned === undefined ? undefined : uint32Header(assigned)],
      ...newerHeaders(peerData),
      ...xgress,
    ],
    token,
  )
}
