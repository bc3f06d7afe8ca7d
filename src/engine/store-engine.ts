import { TrustAnchors } from '../authority/trust.ts'
import { BoundedMap } from '../base/collections.ts'
import { ServiceConfigs } from '../configs/service-configs.ts'
import type { AccessIndexFeed, OwnerCount } from '../context/context.ts'
import { WireTexts } from '../context/wire-texts.ts'
import type { Writes } from '../context/writes.ts'
import { Authenticators } from '../credentials/authenticators.ts'
import { readCredentials } from '../credentials/identity-credentials.ts'
import { Enrollments } from '../enrollment/enrollments.ts'
import { RouterEnrollment } from '../enrollment/router-enrollment.ts'
import { EntityReader } from '../entities/entity-reader.ts'
import { AttributeGrants } from '../identities/attribute-grants.ts'
import { IdentityState } from '../identities/identity-state.ts'
import { Mfa } from '../login/mfa.ts'
import type { WriteTransaction } from '../ports/record-storage.ts'
import { MAX_OWNERS } from '../records/owner-quota.ts'
import { WebhookService } from '../webhooks/webhooks.ts'
import { behaviourOf, contextOf, EntityServices } from './entity-services.ts'

/** The services whose work lies in the store alone. They can work inside of a write that others commit. */
export class StoreEngine extends EntityServices {
  readonly #context = contextOf(this)
  /** Entities in their wire form. */
  readonly reader = new EntityReader(this.#context, behaviourOf)
  readonly attributeGrants = new AttributeGrants(this.#context)
  readonly authenticators = new Authenticators(this.#context)
  readonly enrollments = new Enrollments(this.#context, this.reader)
  readonly identityState = new IdentityState(this.#context)
  readonly mfa = new Mfa(this.#context)
  readonly routerEnrollment = new RouterEnrollment(this.#context)
  readonly serviceConfigs = new ServiceConfigs(this.#context)
  readonly trustAnchors = new TrustAnchors(this.#context)
  /** The secrets of webhooks, and their failed deliveries. */
  readonly webhookDeliveries = new WebhookService(this.#context)
}

/** The same services inside of a transaction. They keep no state that outlives it, because it may be rolled back. */
export function engineWithin(engine: StoreEngine, tx: WriteTransaction, writes: Writes): StoreEngine {
  const context = contextOf(engine)
  const { presence } = context
  return new StoreEngine({
    ...context,
    storage: { read: (work) => work(tx) },
    writes,
    access: ACCESS_AFTER_COMMIT,
    credentials: { of: readCredentials },
    presence: {
      at: async () => presence.lastKnown(),
      lastKnown: () => presence.lastKnown(),
      hasOthers: (snapshot) => presence.hasOthers(snapshot),
      statusOf: (identityId) => presence.statusOf(identityId),
      onlineIdentities: () => presence.onlineIdentities(),
      follow: (changes) => presence.follow(changes),
    },
    texts: new WireTexts(),
    ownerCounts: new BoundedMap<string, OwnerCount>(MAX_OWNERS),
  })
}

/** The access index holds committed records alone. */
const ACCESS_AFTER_COMMIT: AccessIndexFeed = {
  at: async () => {
    throw new Error('questions about access are answered after the commit: ask outside of the joint write')
  },
  isLevelWith: () => false,
  hasMoved: () => false,
}
