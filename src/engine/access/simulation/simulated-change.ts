import type { servicePolicies } from '../../../resources/access/policies.ts'
import type { identities } from '../../../resources/identities/identities.ts'
import type { services } from '../../../resources/services/services.ts'
import type { CreateBodyOf, PatchBodyOf } from '../../../resources/wire/wire-forms.ts'

/** What decides who may dial and bind what. */
interface SimulatedKinds {
  readonly identities: typeof identities
  readonly services: typeof services
  readonly 'service-policies': typeof servicePolicies
}

export type SimulatedKind = keyof SimulatedKinds

/**
 * A change in the words of the resources' own requests. What is created may be given an id, under which later changes and
 * role lists (`@id`) know it; otherwise it is called `new-1`, `new-2` and so on, by its place among the changes.
 */
export type SimulatedChange = {
  readonly [K in SimulatedKind]:
    | {
        readonly kind: K
        readonly action: 'create'
        readonly id?: string | undefined
        readonly body: CreateBodyOf<SimulatedKinds[K]>
      }
    | {
        readonly kind: K
        readonly action: 'update'
        readonly id: string
        readonly body: PatchBodyOf<SimulatedKinds[K]>
      }
    | { readonly kind: K; readonly action: 'delete'; readonly id: string }
}[SimulatedKind]
