import {
  BOOL,
  BYTES,
  COUNT,
  enumeration,
  field,
  INTEGER,
  type MessageOf,
  mapOf,
  message,
  optional,
  repeated,
  TEXT,
  valuesOf,
} from '../../channel/protobuf/index.ts'
import { PRECEDENCE } from './edge-definitions.ts'

const Process = message({
  osType: field(1, TEXT),
  path: field(2, TEXT),
  hashes: repeated(3, TEXT),
  fingerprints: repeated(4, TEXT),
})

const Timestamp = message({ seconds: field(1, INTEGER), nanos: field(2, INTEGER) })

const PostureCheckFields = message({
  id: field(1, TEXT),
  name: field(2, TEXT),
  typeId: field(4, TEXT),
  mac: optional(7, message({ macAddresses: repeated(1, TEXT) })),
  mfa: optional(
    8,
    message({
      timeoutSeconds: field(1, INTEGER),
      promptOnWake: field(2, BOOL),
      promptOnUnlock: field(3, BOOL),
      ignoreLegacyEndpoints: field(4, BOOL),
    }),
  ),
  osList: optional(
    9,
    message({ osList: repeated(1, message({ osType: field(1, TEXT), osVersions: repeated(2, TEXT) })) }),
  ),
  process: optional(10, Process),
  processMulti: optional(11, message({ semantic: field(1, TEXT), processes: repeated(2, Process) })),
  domains: optional(12, message({ domains: repeated(1, TEXT) })),
})

const Identity = message({
  id: field(1, TEXT),
  name: field(2, TEXT),
  defaultHostingPrecedence: field(3, PRECEDENCE),
  defaultHostingCost: field(4, COUNT),
  serviceHostingPrecedences: mapOf(5, TEXT, PRECEDENCE),
  serviceHostingCosts: mapOf(6, TEXT, COUNT),
  appDataJson: field(7, BYTES),
  serviceConfigs: mapOf(8, TEXT, message({ configs: mapOf(1, TEXT, TEXT) })),
  disabled: field(9, BOOL),
})

const Service = message({
  id: field(1, TEXT),
  name: field(2, TEXT),
  encryptionRequired: field(3, BOOL),
  configs: repeated(4, TEXT),
})

const ServicePolicy = message({
  id: field(1, TEXT),
  name: field(2, TEXT),
  policyType: field(3, enumeration('', 'Dial', 'Bind')),
})

const PublicKey = message({
  data: field(1, BYTES),
  kid: field(2, TEXT),
  usages: repeated(3, enumeration('jwt', 'client-certificates')),
})

const Revocation = message({
  id: field(1, TEXT),
  expiresAt: optional(2, Timestamp),
  type: field(3, TEXT),
  issuedBefore: optional(4, Timestamp),
})

const PolicyChange = message({
  policyId: field(1, TEXT),
  relatedEntityIds: repeated(2, TEXT),
  relatedEntityType: field(3, enumeration('', 'services', 'identities', 'posture-checks')),
  add: field(4, BOOL),
})

const ConfigType = message({ id: field(1, TEXT), name: field(2, TEXT), target: field(3, TEXT) })

const Config = message({
  id: field(1, TEXT),
  typeId: field(2, TEXT),
  name: field(3, TEXT),
  dataJson: field(4, TEXT),
})

const Router = message({
  id: field(1, TEXT),
  name: field(2, TEXT),
  fingerprint: field(3, TEXT),
  configs: repeated(4, TEXT),
  disabled: field(5, BOOL),
})

/** One step of the model: an action on the one entity that is present. */
export const Event = message({
  action: field(1, enumeration('create', 'update', 'delete')),
  identity: optional(10, Identity),
  service: optional(11, Service),
  servicePolicy: optional(12, ServicePolicy),
  postureCheck: optional(13, PostureCheckFields),
  publicKey: optional(14, PublicKey),
  revocation: optional(15, Revocation),
  servicePolicyChange: optional(16, PolicyChange),
  configType: optional(17, ConfigType),
  config: optional(18, Config),
  router: optional(19, Router),
})

/** Each entity without any field. */
export const BLANK = {
  identity: Identity.blank(),
  service: Service.blank(),
  servicePolicy: ServicePolicy.blank(),
  postureCheck: PostureCheckFields.blank(),
  publicKey: PublicKey.blank(),
  revocation: Revocation.blank(),
  configType: ConfigType.blank(),
  config: Config.blank(),
  router: Router.blank(),
} as const

export type WireEvent = MessageOf<typeof Event>

const STATE_EVENTS = 1
const CHANGES = 3
/** Related ids that are handed on in one event: one of a deployed controller may name every identity. */
const MOST_RELATED = 1000

/** The events of a state, one after the other: a hundred thousand identities are more than one message may hold. */
export function stateEventsIn(bytes: Uint8Array): Generator<WireEvent> {
  return eventsIn(bytes, STATE_EVENTS)
}

/** The events of a change set, one after the other. */
export function changesIn(bytes: Uint8Array): Generator<WireEvent> {
  return eventsIn(bytes, CHANGES)
}

function* eventsIn(bytes: Uint8Array, field: number): Generator<WireEvent> {
  for (const part of valuesOf(bytes, field)) {
    // A router trusts its controllers: the members are as many as fit the bytes.
    const event = Event.decode(part, part.length)
    const { servicePolicyChange: change } = event
    const ids = change?.relatedEntityIds ?? []
    if (change === undefined || ids.length <= MOST_RELATED) yield event
    else
      for (let at = 0; at < ids.length; at += MOST_RELATED) {
        yield { ...event, servicePolicyChange: { ...change, relatedEntityIds: ids.slice(at, at + MOST_RELATED) } }
      }
  }
}

/** The events of a state; its other members come before or after them. */
export const StateEvents = message({ events: repeated(STATE_EVENTS, Event) })
export const StateFacts = message({ endIndex: field(2, COUNT), timelineId: field(3, TEXT) })
/** The same of a change set. */
export const ChangeSetEvents = message({ changes: repeated(CHANGES, Event) })
export const ChangeSetFacts = message({ index: field(1, COUNT), previousIndex: field(5, COUNT) })

/** A whole state to compare with: a state in pieces is a field in pieces, which readers put together. */
export const ValidateModel = message({ state: repeated(1, BYTES) })
export const ModelValidated = message({
  diffs: repeated(
    3,
    message({ entityType: field(1, TEXT), entityId: field(2, TEXT), diffType: field(3, TEXT), detail: field(4, TEXT) }),
  ),
})

export const Subscribe = message({
  currentIndex: field(1, COUNT),
  subscriptionDurationSeconds: field(2, COUNT),
  renew: field(3, BOOL),
  timelineId: field(4, TEXT),
  subscriptionId: field(5, TEXT),
})
