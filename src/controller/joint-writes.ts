import type { Call, Caller } from '../context/call.ts'
import { SYSTEM_CALL } from '../context/call.ts'
import type { ControllerEngine } from '../engine/engine.ts'
import { contextOf } from '../engine/entity-services.ts'
import type { CallEngine, HostEngine } from '../engine/host-engine.ts'
import { engineWithin } from '../engine/store-engine.ts'
import {
  type IdentityInvitationOptions,
  type Invitation,
  inviteIdentity,
  inviteRouter,
  type RouterInvitation,
  type RouterInvitationOptions,
} from '../enrollment/invite.ts'
import type { Storage, WriteTransaction } from '../ports/record-storage.ts'
import { engineForCall, engineForHostWithin, type PartWithin } from './guarded-engine.ts'

/**
 * A controller inside of a write that others commit. Its calls see the changes of that write. They are judged, audited and followed as
 * always: judged at once, followed after the commit. A change that is refused rolls the whole write back, also where its caller catches
 * the error. Questions about access are answered outside, after the commit.
 */
export interface JointController {
  /** The entities of the network, their credentials and their enrollments. */
  readonly engine: Pick<HostEngine, PartWithin>
  /** The same with the rights of a caller or a call. */
  as(who: Call | Caller): Pick<CallEngine, PartWithin>
  /** Invites an identity, as `Controller.invite` does. */
  invite(name: string, options?: IdentityInvitationOptions): Promise<Invitation>
  /** Invites an edge router, as `Controller.inviteRouter` does. */
  inviteRouter(name: string, options?: RouterInvitationOptions): Promise<RouterInvitation>
}

/** The part of a controller in one transaction of its storage. */
export interface JointWrite {
  readonly controller: JointController
  /** The last work before the commit. Rejects when a change was refused: the transaction is to be rolled back then. */
  settle(): Promise<void>
  /** Runs everything that follows from the changes, after the commit. */
  committed(): Promise<void>
}

/** Lets the controller of a storage take part in a transaction of the storage. */
export type JoinWrite = (tx: WriteTransaction) => JointWrite

/** A storage whose transactions a host may join. */
export interface JoinableStorage extends Storage {
  /** The controller over the storage takes part in transactions by `join`. */
  joinedBy(join: JoinWrite): void
}

/** Begins the part of a controller in a transaction. */
export function joinWrite(engine: ControllerEngine, tx: WriteTransaction): JointWrite {
  const { writes, clock } = contextOf(engine)
  const joined = writes.join(tx)
  const within = engineWithin(engine, tx, joined.writes)
  const system = () => engineForCall(within, SYSTEM_CALL)
  return {
    controller: {
      engine: engineForHostWithin(within),
      as: (who) => engineForCall(within, who),
      invite: (name, options) => inviteIdentity(system(), name, clock.now(), options),
      inviteRouter: (name, options) => inviteRouter(system(), name, clock.now(), options),
    },
    settle: joined.settle,
    committed: joined.committed,
  }
}
