import { BOOL, COUNT, enumeration, field, INTEGER, message, optional, repeated, TEXT } from './protobuf/index.ts'

/** The operation of an entry; a removed one says nothing but its id. */
const OP = enumeration('added', 'updated', 'removed')
const Timestamp = message({ seconds: field(1, INTEGER), nanos: field(2, INTEGER) })

/** A service of a subscriber, with its configs as they hold for the subscriber. */
export const ServiceEntry = message({
  op: field(1, OP),
  id: field(2, TEXT),
  name: field(3, TEXT),
  encryptionRequired: field(4, BOOL),
  configs: repeated(5, TEXT),
  policyIds: repeated(6, TEXT),
  configData: repeated(7, message({ typeId: field(1, TEXT), typeName: field(2, TEXT), dataJson: field(3, TEXT) })),
})

/** A service policy of a subscriber. */
export const PolicyEntry = message({
  op: field(1, OP),
  id: field(2, TEXT),
  type: field(3, enumeration('Dial', 'Bind')),
  postureCheckIds: repeated(4, TEXT),
})

/** A posture check of such a policy, as far as an endpoint needs it to report. Times are seconds. */
export const CheckEntry = message({
  op: field(1, OP),
  id: field(2, TEXT),
  type: field(3, TEXT),
  promptGracePeriodSeconds: field(4, INTEGER),
  promptOnUnlock: field(5, BOOL),
  promptOnWake: field(6, BOOL),
  semantic: field(7, TEXT),
  processes: repeated(8, message({ osType: field(1, TEXT), path: field(2, TEXT) })),
  timeoutSeconds: field(9, INTEGER),
})

/** Changes for a subscriber since `previousIndex`, which is -1 where the message holds everything. */
export const ServiceChanges = message({
  index: field(1, INTEGER),
  previousIndex: field(2, INTEGER),
  services: repeated(3, ServiceEntry),
  policies: repeated(4, PolicyEntry),
  postureChecks: repeated(5, CheckEntry),
})

/** Which posture checks and policies of a subscriber pass. `sequence` counts the messages of a channel from 1. */
export const PostureState = message({
  sequence: field(1, COUNT),
  structuralIndex: field(2, COUNT),
  generatedAt: optional(4, Timestamp),
  checks: repeated(
    5,
    message({
      checkId: field(1, TEXT),
      isPassing: field(2, BOOL),
      timeoutAt: optional(3, Timestamp),
      timeoutRemainingSeconds: field(4, INTEGER),
    }),
  ),
  policies: repeated(6, message({ policyId: field(1, TEXT), isPassing: field(2, BOOL) })),
})
