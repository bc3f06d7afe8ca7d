import { EDGE_ERROR, type EdgeRefusal, refusalJson, refusalText } from '../../../src/data-plane/edge/edge-refusal.ts'
import type { Message } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, TRUE } from '../../channel/edge-messages.ts'
import { textHeader, uint32Header } from '../../channel/header-values.ts'

/** Facts that the two ends of a circuit learn of each other by the controller, under other numbers than endpoints use. */
export const PEER_DATA = { stickiness: 1114, dialerId: 1115, dialerName: 1116 } as const

/** A refusal for endpoints that read more than its words. */
export function refusalHeaders(refusal: EdgeRefusal): Map<number, Uint8Array> {
  const headers = new Map<number, Uint8Array>()
  if (refusal.code === undefined && refusal.hint === undefined) return headers
  headers.set(EDGE_HEADER.errorCode, uint32Header(refusal.code ?? EDGE_ERROR.internal))
  return headers.set(EDGE_HEADER.error, textHeader(refusalJson(refusal)))
}

/** That a connection is refused, or over. */
export function closedMessage(id: number, refusal: EdgeRefusal, circuitId?: string): Message {
  const circuit = circuitId === undefined ? undefined : textHeader(circuitId)
  const headers = [[EDGE_HEADER.circuit, circuit] as const, ...refusalHeaders(refusal)]
  return edgeMessage(EDGE_TYPE.stateClosed, id, headers, textHeader(refusalText(refusal)))
}

/** That an endpoint has the windows of a circuit itself: whose circuit it is, and its own address in it. */
export function xgressHeaders(ownerId: string, address: string): readonly (readonly [number, Uint8Array])[] {
  return [
    [EDGE_HEADER.usesXgress, TRUE],
    [EDGE_HEADER.circuitOwner, textHeader(ownerId)],
    [EDGE_HEADER.circuitAddress, textHeader(address)],
  ]
}
