import { z } from 'zod'
import { notFound } from '../../domain/errors.ts'
import { cas } from '../../resources/enrollment/cas.ts'
import { externalJwtSigners } from '../../resources/login/external-jwt-signers.ts'
import { readId, readValue } from '../../resources/requests/read-body.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { mayRead } from '../context/readable.ts'

/** A certificate authority or external JWT signer, and whether it is trusted to let in identities that have rights. */
export interface TrustAnchor {
  readonly id: string
  readonly name: string
  readonly kind: 'ca' | 'external-jwt-signer'
  /** False for one that a delegate made or changed, until an administrator says otherwise. */
  readonly mayAuthenticateAdmins: boolean
}

/**
 * Which trust anchors may let in administrators and delegates. One that an administrator made is trusted; when a delegate
 * changes what decides whom it lets in, it is not any more; nothing but {@link TrustAnchors.trust} makes it trusted again.
 */
export class TrustAnchors {
  readonly #context: EngineContext

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The trust anchors of the kinds that the caller may read, certificate authorities first. */
  list(call: Call): Promise<readonly TrustAnchor[]> {
    return this.#context.storage.read(async (tx) => [
      ...(mayRead(call, 'ca') ? (await tx.collection(cas).find()).items.map(anchor('ca')) : []),
      ...(mayRead(call, 'external-jwt-signer')
        ? (await tx.collection(externalJwtSigners).find()).items.map(anchor('external-jwt-signer'))
        : []),
    ])
  }

  /**
   * Says whether an anchor is trusted; the operation is for administrators alone.
   *
   * @throws {ControllerError} NOT_FOUND when there is no such signer or certificate authority.
   *
   * @example
   * await engine.trustAnchors.trust(SYSTEM_CALL, signer.id, true)
   */
  async trust(call: Call, id: string, mayAuthenticateAdmins: boolean): Promise<TrustAnchor> {
    readId(id)
    readValue('mayAuthenticateAdmins', z.boolean(), mayAuthenticateAdmins)
    const now = this.#context.clock.now()
    return this.#context.writes.run(call, async (tx) => {
      const ca = await tx.collection(cas).get(id)
      if (ca !== undefined) {
        await tx.collection(cas).update({ ...ca, mayAuthenticateAdmins, updatedAt: now })
        return { id, name: ca.name, kind: 'ca', mayAuthenticateAdmins }
      }
      const signer = await tx.collection(externalJwtSigners).get(id)
      if (signer === undefined) throw notFound('trust anchor', id)
      await tx.collection(externalJwtSigners).update({ ...signer, mayAuthenticateAdmins, updatedAt: now })
      return { id, name: signer.name, kind: 'external-jwt-signer', mayAuthenticateAdmins }
    })
  }
}

function anchor(kind: TrustAnchor['kind']) {
  return ({ id, name, mayAuthenticateAdmins }: Omit<TrustAnchor, 'kind'>): TrustAnchor => {
    return { id, name, kind, mayAuthenticateAdmins }
  }
}
