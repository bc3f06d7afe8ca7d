/** What happened, told after the commit that made it true. Instants are epoch milliseconds; no payload holds a secret. */
export interface ControllerEvents {
  /** An entity was created, updated or deleted. */
  'entity.changed': {
    readonly operation: 'insert' | 'update' | 'delete'
    /** The resource, for example `service-policies`. */
    readonly kind: string
    readonly id: string
    /** Who did it: the id of an identity, or undefined for the controller itself. */
    readonly author: string | undefined
    readonly at: number
  }
  /** Somebody tried to authenticate. */
  'authentication.attempted': {
    readonly success: boolean
    readonly method: 'password' | 'cert' | 'ext-jwt'
    readonly identityId: string | undefined
    readonly remoteAddress: string | undefined
    /** For the operator only: why it failed. */
    readonly reason: string | undefined
    readonly at: number
  }
  /** A session was refused because no service policy passed. */
  'service.refused': {
    readonly identityId: string
    readonly serviceId: string
    readonly type: 'Dial' | 'Bind'
    readonly at: number
  }
}

export type EventName = keyof ControllerEvents

/** Delivers events to the host. A listener that throws disturbs neither the controller nor other listeners. */
export interface Events {
  emit<E extends EventName>(name: E, event: ControllerEvents[E]): void
  /** Adds a listener; answers the function that removes it. */
  on<E extends EventName>(name: E, listener: (event: ControllerEvents[E]) => void): () => void
}
