import type { PostureCheck } from '../../access/posture/rules/index.ts'
import type { Precedence } from '../rules/index.ts'

/** An entity of the model by which routers decide, in its current state. */
export type ModelEntity =
  | {
      readonly type: 'identity'
      readonly id: string
      readonly name: string
      readonly defaultHostingPrecedence: Precedence
      readonly defaultHostingCost: number
      readonly serviceHostingPrecedences: ReadonlyMap<string, Precedence>
      readonly serviceHostingCosts: ReadonlyMap<string, number>
      /** JSON; empty without app data. */
      readonly appDataJson: string
      /** Service to config type to config, by their ids. */
      readonly serviceConfigs: ReadonlyMap<string, ReadonlyMap<string, string>>
      readonly disabled: boolean
    }
  | {
      readonly type: 'service'
      readonly id: string
      readonly name: string
      readonly encryptionRequired: boolean
      readonly configs: readonly string[]
    }
  | {
      readonly type: 'service-policy'
      readonly id: string
      readonly name: string
      readonly policyType: 'Dial' | 'Bind'
    }
  | { readonly type: 'posture-check'; readonly check: PostureCheck }
  | {
      readonly type: 'public-key'
      readonly kid: string
      /** DER of a certificate. */
      readonly data: Uint8Array
      readonly usages: readonly ('jwt' | 'client-certificates')[]
    }
  | {
      readonly type: 'revocation'
      readonly id: string
      /** Epoch ms, like `issuedBefore`. */
      readonly expiresAt: number
      readonly kind: 'API_SESSION' | 'IDENTITY' | 'JTI'
      readonly issuedBefore: number | undefined
    }
  | { readonly type: 'config-type'; readonly id: string; readonly name: string; readonly target: string }
  | {
      readonly type: 'config'
      /** A config for routers is sent only to routers that name it. */
      readonly target: 'service' | 'router'
      readonly id: string
      readonly typeId: string
      readonly name: string
      readonly dataJson: string
    }
  | {
      readonly type: 'router'
      readonly id: string
      readonly name: string
      readonly fingerprint: string
      readonly configs: readonly string[]
      readonly disabled: boolean
    }

export type ModelEntityType = ModelEntity['type']
/** The side of a service policy in a relation. */
export type PolicySide = 'services' | 'identities' | 'posture-checks'

/** One step from a state of the model to the next. */
export type ModelEvent =
  | { readonly action: 'create' | 'update'; readonly entity: ModelEntity }
  | { readonly action: 'delete'; readonly type: ModelEntityType; readonly id: string }
  | {
      readonly action: 'relate' | 'separate'
      readonly policyId: string
      readonly side: PolicySide
      readonly entityIds: readonly string[]
    }

/** Encodes events for routers. */
export interface ModelCodec {
  /** Encodes events of a state of the model. The concatenation of two encodings is the encoding of both lists. */
  state(events: readonly ModelEvent[]): Uint8Array
  /** Encodes events of a change set. */
  changes(events: readonly ModelEvent[]): Uint8Array
}
