import { MFA_GRACE_SECONDS } from '../../../../src/control-channel.ts'
import { evaluateCheck, nextDeadline, type PostureCheck } from '../../../../src/policy.ts'
import type { Message } from '../../channel/conversation.ts'
import { EDGE_TYPE } from '../../channel/edge-messages.ts'
import type { MessageOf } from '../../channel/protobuf/index.ts'
import { CheckEntry, PolicyEntry, PostureState, ServiceChanges, ServiceEntry } from '../../channel/service-messages.ts'
import type { ReachOf, RouterModel } from '../state/router-model.ts'
import type { EdgePosture } from './edge-posture.ts'
import type { Reporter } from './handed-on-reports.ts'

type Service = MessageOf<typeof ServiceEntry>
type Policy = MessageOf<typeof PolicyEntry>
type Check = MessageOf<typeof CheckEntry>
type Entries<T> = ReadonlyMap<string, T>

/** Everything that a subscriber knows, each entry as if it were added. */
interface Content {
  readonly services: Entries<Service>
  readonly policies: Entries<Policy>
  readonly checks: Entries<Check>
}

/** The parts of a router that updates are made of. */
export interface UpdatesParts {
  readonly model: Pick<RouterModel, 'reachOf' | 'servicesOf' | 'position'>
  readonly posture: Pick<EdgePosture, 'dataOf' | 'watch'>
  /** Epoch ms. */
  readonly now: () => number
}

/** The endpoint that subscribes. */
interface Subscriber extends Reporter {
  send(message: Message): void
}

const NOTHING: Content = { services: new Map(), policies: new Map(), checks: new Map() }
/** In place of the index of the message before: the message holds everything. */
const EVERYTHING = -1
const NO_TIMEOUT = -1

/**
 * Tells an endpoint of its services, so that it need not ask its controller: which it may dial or host by which policies and checks,
 * and which of these pass. It gets everything when it subscribes, and then each change.
 */
export class ServiceUpdates {
  readonly #parts: UpdatesParts
  readonly #subscriber: Subscriber
  /** As the subscriber knows it; undefined without a subscription. */
  #told: Content | undefined
  #index = 0
  #sequence = 0
  #toldState = ''

  constructor(parts: UpdatesParts, subscriber: Subscriber) {
    this.#parts = parts
    this.#subscriber = subscriber
  }

  /** The endpoint wants all services, and then their changes. */
  subscribe(): void {
    this.#tellAll(this.#content())
    this.#tellState()
    const told = this.#told
    // A controller may know earlier reports of the endpoint, or reports to other routers.
    void this.#parts.posture.watch(this.#subscriber).then(() => {
      if (this.#told === told) this.refresh()
    })
  }

  unsubscribe(): void {
    this.#told = undefined
  }

  /** The endpoint missed a state of its posture. */
  resync(): void {
    if (this.#told !== undefined) this.#tellState()
  }

  /** Sends the differences from the state that the endpoint knows, if any. */
  refresh(): void {
    const told = this.#told
    if (told === undefined) return
    const content = this.#content()
    const changes = changesBetween(told, content)
    const isOther = Object.values(changes).some(({ length }) => length > 0)
    const index = this.#parts.model.position.currentIndex
    // A model of another origin begins anew, and so does the state of the endpoint.
    if (isOther && index <= this.#index) this.#tellAll(content)
    else if (isOther) {
      const previousIndex = this.#index
      this.#told = content
      this.#index = index
      this.#send(EDGE_TYPE.serviceChanges, ServiceChanges.encode({ index, previousIndex, ...changes }))
    }
    if (this.#stateText(this.#state()) !== this.#toldState) this.#tellState()
  }

  #tellAll(content: Content): void {
    this.#told = content
    this.#index = this.#parts.model.position.currentIndex
    const indexes = { index: this.#index, previousIndex: EVERYTHING }
    this.#send(EDGE_TYPE.serviceChanges, ServiceChanges.encode({ ...indexes, ...changesBetween(NOTHING, content) }))
  }

  #tellState(): void {
    const state = this.#state()
    this.#sequence += 1
    this.#toldState = this.#stateText(state)
    const facts = { sequence: this.#sequence, structuralIndex: this.#parts.model.position.currentIndex }
    const generatedAt = timestamp(this.#parts.now())
    this.#send(EDGE_TYPE.postureState, PostureState.encode({ ...facts, generatedAt, ...state }))
  }

  #send(contentType: number, body: Uint8Array): void {
    this.#subscriber.send({ contentType, headers: new Map(), body: [body] })
  }

  #content(): Content {
    const { model } = this.#parts
    const { identityId } = this.#subscriber.client.session
    const reach = model.reachOf(identityId)
    const policies = reach.map(({ id, type, checks }): [string, Policy] => {
      return [id, { op: 'added', id, type, postureCheckIds: checks.map((check) => check.id).sort() }]
    })
    const services = model.servicesOf(identityId, reach).map((service): [string, Service] => {
      return [service.id, { op: 'added', ...service }]
    })
    return { services: new Map(services), policies: new Map(policies), checks: new Map(checksIn(reach)) }
  }

  #state(): Pick<MessageOf<typeof PostureState>, 'checks' | 'policies'> {
    const { client } = this.#subscriber
    const now = this.#parts.now()
    const data = this.#parts.posture.dataOf(client)
    const { id } = client.session
    const reach = this.#parts.model.reachOf(client.session.identityId)
    const distinct = new Map(reach.flatMap(({ checks }) => checks.map((check) => [check.id, check] as const)))
    const passing = new Map(
      [...distinct].map(([checkId, check]) => [checkId, data !== undefined && evaluateCheck(check, data, id, now)]),
    )
    return {
      checks: [...distinct].map(([checkId, check]) => {
        const endsAt = data && nextDeadline(check, data, id, now)
        return {
          checkId,
          isPassing: passing.get(checkId) ?? false,
          timeoutAt: endsAt === undefined ? undefined : timestamp(endsAt),
          timeoutRemainingSeconds: endsAt === undefined ? 0 : Math.floor((endsAt - now) / 1000),
        }
      }),
      policies: reach.map(({ id: policyId, checks }) => {
        return { policyId, isPassing: checks.every((check) => passing.get(check.id) === true) }
      }),
    }
  }

  /** The same text for states that differ by the time alone. */
  #stateText({ checks, policies }: Pick<MessageOf<typeof PostureState>, 'checks' | 'policies'>): string {
    return JSON.stringify([checks.map((check) => ({ ...check, timeoutRemainingSeconds: 0 })), policies])
  }
}

function changesBetween(before: Content, after: Content) {
  return {
    services: differences(ServiceEntry.blank(), before.services, after.services),
    policies: differences(PolicyEntry.blank(), before.policies, after.policies),
    postureChecks: differences(CheckEntry.blank(), before.checks, after.checks),
  }
}

/** The entries that are new, other or gone. */
function differences<T extends Service | Policy | Check>(
  blank: T,
  before: Entries<T>,
  after: Entries<T>,
): readonly T[] {
  const changed = [...after].flatMap(([id, entry]): readonly T[] => {
    const known = before.get(id)
    if (known === undefined) return [entry]
    return JSON.stringify(known) === JSON.stringify(entry) ? [] : [{ ...entry, op: 'updated' }]
  })
  const gone = [...before.keys()].filter((id) => !after.has(id)).map((id): T => ({ ...blank, id, op: 'removed' }))
  return [...changed, ...gone]
}

function checksIn(reach: ReachOf): readonly (readonly [string, Check])[] {
  return reach.flatMap(({ checks }) => checks.map((check) => [check.id, checkEntry(check)] as const))
}

/** A check of a single process is sent in the form for several: endpoints know no other form. */
function checkEntry(check: PostureCheck): Check {
  const entry: Check = { ...CheckEntry.blank(), id: check.id, type: check.typeId }
  switch (check.typeId) {
    case 'MFA': {
      const { promptOnWake, promptOnUnlock, timeoutSeconds } = check
      const prompts = { promptOnWake, promptOnUnlock, promptGracePeriodSeconds: MFA_GRACE_SECONDS }
      return { ...entry, ...prompts, timeoutSeconds: timeoutSeconds > 0 ? timeoutSeconds : NO_TIMEOUT }
    }
    case 'PROCESS': {
      const { osType, path } = check.process
      return { ...entry, type: 'PROCESS_MULTI', semantic: 'AllOf', processes: [{ osType, path }] }
    }
    case 'PROCESS_MULTI': {
      const processes = check.processes.map(({ osType, path }) => ({ osType, path }))
      return { ...entry, semantic: check.semantic, processes }
    }
    default:
      return entry
  }
}

function timestamp(ms: number): { readonly seconds: number; readonly nanos: number } {
  return { seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1_000_000 }
}
