import { type Acknowledgement, PAYLOAD_FLAG, type Payload } from '../../../src/data-plane.ts'
import type { Message } from './conversation.ts'
import { bodyOf, CIRCUIT_HEADER, EDGE_HEADER, EDGE_TYPE } from './edge-messages.ts'
import type { Frame } from './frame.ts'
import { readUint32, textBytes, uint32Header } from './header-values.ts'

/** The first key of the items of a payload. */
const FIRST_ITEM = 2000
const LAST_ITEM = FIRST_ITEM + 255
/** Heartbeats ride on messages over links, and are for the next router alone; so is the number of a client's connection. */
const NOT_FORWARDED: readonly number[] = [5, 6, EDGE_HEADER.connection]
/** The longest id of a circuit that is looked up. */
const LONGEST_ID = 128

/** Whether a frame belongs to a circuit. */
export function isOfCircuit({ contentType }: Frame): boolean {
  return contentType >= EDGE_TYPE.payload && contentType <= EDGE_TYPE.circuitControl
}

/** The circuit of a frame; undefined for a frame that names no circuit. A control names its circuit in the body, behind a byte. */
export function circuitOf(frame: Frame): string | undefined {
  const named = frame.headers.get(CIRCUIT_HEADER.circuit)
  if (named !== undefined) {
    return named.length > LONGEST_ID ? undefined : Buffer.from(named.buffer, named.byteOffset, named.length).toString()
  }
  if (frame.contentType !== EDGE_TYPE.circuitControl) return undefined
  const body = bodyOf(frame)
  return body.length < 2 || body.length > LONGEST_ID ? undefined : Buffer.from(body.subarray(1)).toString()
}

/** The side that sent a payload or an acknowledgement: the dialer is at the ingress, the host at the egress. */
export function sideOf({ headers }: Frame): 'ingress' | 'egress' {
  const flags = readUint32(headers, CIRCUIT_HEADER.flags) ?? 0
  return (flags & PAYLOAD_FLAG.originator) === 0 ? 'ingress' : 'egress'
}

/**
 * The connection or the circuit whose order a frame keeps; undefined for a frame that may go before others: acknowledgements, questions and
 * answers of a channel.
 */
export function senderOf(frame: Frame): number | string | undefined {
  const { contentType, headers } = frame
  if (contentType === EDGE_TYPE.acknowledgement) return undefined
  const connection = readUint32(headers, EDGE_HEADER.connection)
  if (connection !== undefined) return connection
  return contentType === EDGE_TYPE.payload ? circuitOf(frame) : undefined
}

/** Whether a frame is sent for the second time or more. */
export function isRetransmission({ headers }: Frame): boolean {
  return ((readUint32(headers, CIRCUIT_HEADER.flags) ?? 0) & PAYLOAD_FLAG.retransmit) !== 0
}

/** Whether a frame only announces an end: it is no fault if no end takes it. */
export function isFarewell({ headers }: Frame): boolean {
  const ends = PAYLOAD_FLAG.circuitEnd | PAYLOAD_FLAG.endOfInput
  return ((readUint32(headers, CIRCUIT_HEADER.flags) ?? 0) & ends) !== 0
}

/** A frame as it goes on to the next router or client. */
export function forwarded({ contentType, headers, body }: Frame): Message {
  if (!NOT_FORWARDED.some((key) => headers.has(key))) return { contentType, headers, body }
  const rest = new Map(headers)
  for (const key of NOT_FORWARDED) rest.delete(key)
  return { contentType, headers: rest, body }
}

/** The same for a client, whose connection it names. */
export function forwardedTo(connection: Uint8Array, { contentType, headers, body }: Frame): Message {
  const addressed = new Map<number, Uint8Array>()
  for (const [key, value] of headers) if (!NOT_FORWARDED.includes(key)) addressed.set(key, value)
  return { contentType, headers: addressed.set(EDGE_HEADER.connection, connection), body }
}

/** Reads a payload; undefined for invalid bytes. */
export function readPayload(frame: Frame): Payload | undefined {
  const circuitId = circuitOf(frame)
  const sequence = readUint32(frame.headers, CIRCUIT_HEADER.sequence)
  if (circuitId === undefined || sequence === undefined || sequence > 0x7f_ff_ff_ff) return undefined
  const items = new Map<number, Uint8Array>()
  for (const [key, value] of frame.headers) {
    if (key >= FIRST_ITEM && key <= LAST_ITEM) items.set(key - FIRST_ITEM, value)
  }
  return {
    circuitId,
    sequence,
    flags: readUint32(frame.headers, CIRCUIT_HEADER.flags) ?? 0,
    sentAt: readUint32(frame.headers, CIRCUIT_HEADER.sentAt),
    items,
    body: bodyOf(frame),
  }
}

/** The frame of a payload, without the number that its channel gives it. */
export function writePayload({ circuitId, sequence, flags, sentAt, items, body }: Payload): Message {
  const sequenceBytes = new Uint8Array(8)
  sequenceBytes.set(uint32Header(sequence))
  const headers = new Map<number, Uint8Array>([
    [CIRCUIT_HEADER.circuit, textBytes(circuitId)],
    [CIRCUIT_HEADER.sequence, sequenceBytes],
  ])
  if (flags !== 0) headers.set(CIRCUIT_HEADER.flags, uint32Header(flags))
  if (sentAt !== undefined) headers.set(CIRCUIT_HEADER.sentAt, uint32Header(sentAt).subarray(0, 2))
  for (const [item, value] of items) headers.set(FIRST_ITEM + item, value)
  return { contentType: EDGE_TYPE.payload, headers, body: body.length === 0 ? [] : [body] }
}

/** Reads an acknowledgement; undefined for invalid bytes. Its numbers are the only ones with the highest byte first. */
export function readAcknowledgement(frame: Frame): Acknowledgement | undefined {
  const circuitId = circuitOf(frame)
  const body = bodyOf(frame)
  if (circuitId === undefined || body.length % 4 !== 0) return undefined
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  return {
    circuitId,
    sequences: Array.from({ length: body.length / 4 }, (_, at) => view.getInt32(4 * at)),
    fromOriginator: ((readUint32(frame.headers, CIRCUIT_HEADER.flags) ?? 0) & PAYLOAD_FLAG.originator) !== 0,
    bufferedBytes: readUint32(frame.headers, CIRCUIT_HEADER.receivedBytes) ?? 0,
    sentAt: readUint32(frame.headers, CIRCUIT_HEADER.sentAt),
  }
}

export function writeAcknowledgement(acknowledgement: Acknowledgement): Message {
  const { circuitId, sequences, fromOriginator, bufferedBytes, sentAt } = acknowledgement
  const body = new Uint8Array(4 * sequences.length)
  const view = new DataView(body.buffer)
  for (const [at, sequence] of sequences.entries()) view.setInt32(4 * at, sequence)
  const headers = new Map<number, Uint8Array>([
    [CIRCUIT_HEADER.circuit, textBytes(circuitId)],
    [CIRCUIT_HEADER.receivedBytes, uint32Header(bufferedBytes)],
  ])
  if (fromOriginator) headers.set(CIRCUIT_HEADER.flags, uint32Header(PAYLOAD_FLAG.originator))
  if (sentAt !== undefined) headers.set(CIRCUIT_HEADER.sentAt, uint32Header(sentAt).subarray(0, 2))
  return { contentType: EDGE_TYPE.acknowledgement, headers, body: body.length === 0 ? [] : [body] }
}
