import type { FromRouter, LinkListener, ToRouter } from '../../../../src/control-channel.ts'
import type { ConnectedController } from '../state/controllers.ts'
import type { RouterCredentials } from '../state/opened-socket.ts'

/** The worker that holds the links to other routers. */
export const LINK_WORKER = 0

/** The facts of its router that a worker begins with. */
export interface WorkerFacts {
  /** Its place among the workers, from 0 on. */
  readonly index: number
  readonly routerId: string
  readonly credentials: RouterCredentials
  readonly version: string
  /** Where endpoints reach the router: `host:port`. */
  readonly advertise: string
  readonly listeners: readonly LinkListener[]
  /** Groups of other routers that it dials; empty to dial no router. */
  readonly dialGroups: readonly string[]
  readonly takesLinks: boolean
  /** The path of the socket at which the other workers reach it. */
  readonly path: string
}

/** A controller that the first process of the router is connected to. */
export type ToldController = Pick<
  ConnectedController,
  'id' | 'judgesPosture' | 'takesPosture' | 'isOfOldLine' | 'isSilent'
>

/** An answer to a question with the same number; a failure is the reason for which there is no answer. */
export interface Answered<M> {
  readonly type: 'answer'
  readonly number: number
  readonly message?: M
  readonly failure?: string
}

/** Every message of the first process to a worker. */
export type ToWorker =
  | { readonly type: 'begin'; readonly facts: WorkerFacts }
  | { readonly type: 'credentials'; readonly credentials: RouterCredentials }
  /** Another worker, which this worker is to dial. */
  | { readonly type: 'neighbour'; readonly index: number; readonly path: string }
  /** A controller is connected, or its silence has begun or ended. */
  | { readonly type: 'controller'; readonly controller: ToldController }
  | { readonly type: 'controller-lost'; readonly id: string }
  /** A message of a controller. */
  | { readonly type: 'ask'; readonly number: number; readonly controllerId: string; readonly message: ToRouter }
  | Answered<ToRouter>
  /** A connection that was accepted comes with the message. */
  | { readonly type: 'socket'; readonly number: number }
  /** The worker that has the other sockets of a channel and the path to it; undefined where no worker has any. */
  | { readonly type: 'placed'; readonly number: number; readonly path: string | undefined }
  /** Take no further circuits, and tell how many are left. */
  | { readonly type: 'stop' }
  /** End. */
  | { readonly type: 'close' }

/** Every message of a worker to the first process. */
export type FromWorker =
  /** It takes messages, and other workers reach it. */
  | { readonly type: 'ready' }
  /** A local link to another worker has begun or ended. */
  | { readonly type: 'neighbour'; readonly index: number; readonly isLinked: boolean }
  /** A message for a controller. */
  | { readonly type: 'ask'; readonly number: number; readonly controllerId: string; readonly message: FromRouter }
  | Answered<FromRouter>
  /** It has the connection of a number. */
  | { readonly type: 'took'; readonly number: number }
  /** A connection is over. */
  | { readonly type: 'left' }
  /** The first socket of a channel is here, or the last one has gone. */
  | { readonly type: 'group'; readonly id: string; readonly isHere: boolean; readonly remoteHost: string }
  /** Which worker has the other sockets of a channel? */
  | { readonly type: 'where'; readonly number: number; readonly id: string }
  /** The circuits that it carries, told regularly once it was told to stop. */
  | { readonly type: 'carries'; readonly circuits: number }
  | { readonly type: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }

/** The address of the local link between two workers, as forwards name it; the same at both. */
export function localLink(one: number, other: number): string {
  return `${LOCAL}${Math.min(one, other)}-${Math.max(one, other)}`
}

/** Whether an address is that of a local link. */
export function isLocalLink(address: string): boolean {
  return address.startsWith(LOCAL)
}

/** No id of a link or of an end has a blank. */
const LOCAL = 'worker '
