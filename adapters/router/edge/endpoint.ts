import type {
  OF_THIS_PROCESS,
  PresentableSession,
  PresentedCertificate,
} from '../../../src/data-plane/edge/session-admission.ts'
import type { Lane } from '../../channel/channel.ts'
import type { Message } from '../../channel/conversation.ts'
import type { Frame } from '../../channel/frame.ts'

/** Who is at the other end of an edge channel, and by which session. */
export interface EdgeClient {
  readonly session: PresentableSession
  /** As it was presented: the token of a stored session, or an access token. */
  readonly token: string
  readonly isBearer: boolean
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

/** An endpoint at the other end of an edge channel, for its connections and for what it hosts. */
export interface Endpoint<Entry> {
  readonly client: EdgeClient
  readonly isClosed: boolean
  /** Bytes that wait for it. */
  readonly queuedBytes: number
  send(message: Message, lane?: Lane): void
  reply(to: Frame, message: Message, lane?: Lane): void
  ask(message: Message, timeoutMs: number): Promise<Frame>
  /** Runs once what waits for it has gone out, or it is gone. */
  whenDrained(work: () => void): void
  /** Reads nothing from it until there is room where it sends to, or `mostMs` milliseconds have passed. */
  holdFor(room: Room, mostMs?: number): void
  /** An id for somebody who dials it; undefined where it has too many connections. */
  freeId(): number | undefined
  /** Takes what it binds under an id; answers why it cannot, if so. */
  bind(id: number, entry: Entry): 'taken' | 'too-many' | undefined
  /** Takes what is dialed to it; false where the id is taken. */
  accept(id: number, entry: Entry): boolean
  /** Gives an id back, if it is still the one of the entry. */
  release(id: number, entry: Entry): boolean
  /** A connection has its circuit. */
  entered(id: number, circuitId: string): void
  /** Ends the channel. */
  end(): void
}
