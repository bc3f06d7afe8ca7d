import type { PeerData } from '../../../../src/control-channel.ts'
import {
  EDGE_ERROR,
  type EdgeRefusal,
  type OF_THIS_PROCESS,
  type PresentableSession,
  type PresentedCertificate,
  refusalJson,
  refusalText,
} from '../../../../src/data-plane.ts'
import type { Lane } from '../../channel/channel.ts'
import type { Message } from '../../channel/conversation.ts'
import { EDGE_HEADER, EDGE_TYPE, edgeMessage, newerHeaders, TRUE } from '../../channel/edge-messages.ts'
import type { Frame } from '../../channel/frame.ts'
import { textBytes, uint32Header } from '../../channel/header-values.ts'

/** A refusal for endpoints that read more than its words. */
export function refusalHeaders(refusal: EdgeRefusal): Map<number, Uint8Array> {
  const headers = new Map<number, Uint8Array>()
  if (refusal.code === undefined && refusal.hint === undefined) return headers
  headers.set(EDGE_HEADER.errorCode, uint32Header(refusal.code ?? EDGE_ERROR.internal))
  return headers.set(EDGE_HEADER.error, textBytes(refusalJson(refusal)))
}

/** That a connection is refused, or over. */
export function closedMessage(id: number, refusal: EdgeRefusal, circuitId?: string): Message {
  const circuit = circuitId === undefined ? undefined : textBytes(circuitId)
  const headers = [[EDGE_HEADER.circuit, circuit] as const, ...refusalHeaders(refusal)]
  return edgeMessage(EDGE_TYPE.stateClosed, id, headers, textBytes(refusalText(refusal)))
}

/** That an endpoint has the windows of a circuit itself: whose circuit it is, and its own address in it. */
export function xgressHeaders(ownerId: string, address: string): readonly (readonly [number, Uint8Array])[] {
  return [
    [EDGE_HEADER.usesXgress, TRUE],
    [EDGE_HEADER.circuitOwner, textBytes(ownerId)],
    [EDGE_HEADER.circuitAddress, textBytes(address)],
  ]
}

/** The endpoint of an edge channel, and its session. */
export interface EdgeClient {
  readonly session: PresentableSession
  /** As it was presented: the token of a stored session, or an access token. */
  readonly token: string
  readonly isBearer: boolean
  /** Of an access token: its id, and when it was issued (epoch s). */
  readonly issued: { readonly tokenId: string; readonly at: number | undefined }
  /** Of its TLS handshake. */
  readonly certificate: PresentedCertificate | typeof OF_THIS_PROCESS | undefined
  /** The name of its identity. */
  readonly name: string
}

/** A place that has room again at some time. */
export interface Room {
  /** Runs once, when there is room. */
  whenRoom(work: () => void): void
}

/** Room that its owner opens. */
export class OwnRoom implements Room {
  readonly #works: (() => void)[] = []

  whenRoom(work: () => void): void {
    this.#works.push(work)
  }

  open(): void {
    if (this.#works.length === 0) return
    for (const work of this.#works.splice(0)) work()
  }
}

/** An endpoint at the other end of an edge channel, for its connections and its hosted services. */
export interface Endpoint<Entry> {
  readonly client: EdgeClient
  readonly isClosed: boolean
  /** Bytes that wait for it. */
  readonly queuedBytes: number
  /** The part of them that waits for the turns of a connection. */
  queuedBytesOf(connectionId: number): number
  send(message: Message, lane?: Lane): void
  reply(to: Frame, message: Message, lane?: Lane): void
  /** `onAnswer` runs before anything is taken that came behind the answer. */
  ask(message: Message, timeoutMs: number, onAnswer?: () => void): Promise<Frame>
  /** Runs once all waiting messages have gone out, or the endpoint is gone. */
  whenDrained(work: () => void): void
  /** Reads nothing from it until there is room where it sends to, or `mostMs` milliseconds have passed. */
  holdFor(room: Room, mostMs?: number): void
  /** A free id for a dial to it; undefined where it has too many connections. */
  freeId(): number | undefined
  /** Registers a binding under an id; answers the reason if that fails. */
  bind(id: number, entry: Entry): 'taken' | 'too-many' | undefined
  /** Registers a dial to it; false where the id is in use. */
  accept(id: number, entry: Entry): boolean
  /** Releases an id, if the entry still has it. */
  release(id: number, entry: Entry): boolean
  /** A connection has its circuit. */
  entered(id: number): void
  /** Ends the channel. */
  end(): void
}

/** The values of a host's bind, or of its answer to a dial, that dialers get. */
export function sharedByHost({ headers }: Frame): PeerData {
  const publicKey = headers.get(EDGE_HEADER.publicKey)
  const newer = newerHeaders(headers)
  return new Map(publicKey === undefined ? newer : [[EDGE_HEADER.publicKey, publicKey], ...newer])
}
