import type { z } from 'zod'
import { invalidField, notFound } from '../base/errors.ts'
import type { Call } from '../context/call.ts'
import type { EngineContext } from '../context/context.ts'
import { controllerSettings, SettingsChange, SettingsCreation } from '../facts/network/controller-settings.resource.ts'
import { redirectUriProblem } from '../facts/oidc/auth-request.rules.ts'
import { readId, readRequest } from '../kernel/declaration/read-body.ts'
import type { RecordOf } from '../kernel/declaration/resource.ts'
import type { ReadTransaction, WriteTransaction } from '../ports/record-storage.ts'
import { newRecord } from '../records/read-records.ts'

/** The id of the one controller of the network. */
export const CONTROLLER_ID = 'controller'

type Stored = RecordOf<typeof controllerSettings>

/** Where clients of the OpenID provider may be sent. */
export interface OpenIdUris {
  readonly redirectUris: readonly string[]
  readonly postLogoutUris: readonly string[]
}

type Change = z.output<typeof SettingsChange>

/** The settings of a controller: the effective settings, and the stored settings, which take the place of the configuration. */
export interface SettingsView {
  readonly createdAt: number
  readonly updatedAt: number
  readonly tags: Readonly<Record<string, unknown>>
  readonly effective: OpenIdUris
  readonly instance: Partial<OpenIdUris>
}

/** Settings that administrators change while the controller runs. They hold at once, in every process over the store. */
export class ControllerSettingsService {
  readonly #context: EngineContext
  readonly #startedAt: number

  constructor(context: EngineContext) {
    this.#context = context
    this.#startedAt = context.clock.now()
  }

  /**
   * The settings of a controller.
   *
   * @throws {ControllerError} NOT_FOUND when the id is not that of this controller.
   */
  async get(id: string): Promise<SettingsView> {
    requireThisController(id)
    const stored = await this.#context.storage.read((tx) => storedSettings(tx))
    const { redirectUris, postLogoutUris } = stored ?? {}
    return {
      createdAt: stored?.createdAt ?? this.#startedAt,
      updatedAt: stored?.updatedAt ?? this.#startedAt,
      tags: stored?.tags ?? {},
      effective: effectiveUris(this.#context, stored),
      instance: { ...(redirectUris && { redirectUris }), ...(postLogoutUris && { postLogoutUris }) },
    }
  }

  /**
   * Stores the given settings.
   *
   * @throws {ControllerError} NOT_FOUND when the id is not that of this controller.
   * @throws {ControllerError} COULD_NOT_VALIDATE when a URI cannot be used, or there are settings already.
   */
  async create(call: Call, request: z.input<typeof SettingsCreation>): Promise<void> {
    const { controllerId: id, ...change } = readRequest(SettingsCreation, request)
    await this.#write(call, id, change, (stored) => {
      if (stored === undefined) return undefined
      throw invalidField('controllerId', `duplicate value '${id}' in unique index on controllerSettings`, id)
    })
  }

  /**
   * Stores the given settings, and leaves the rest to the configuration.
   *
   * @throws {ControllerError} NOT_FOUND when the id is not that of this controller.
   * @throws {ControllerError} COULD_NOT_VALIDATE when a URI cannot be used.
   */
  async replace(call: Call, id: string, request: z.input<typeof SettingsChange>): Promise<void> {
    const change = readRequest(SettingsChange, request)
    await this.#write(call, id, change, (stored) => stored && { ...stored, redirectUris: null, postLogoutUris: null })
  }

  /**
   * Stores the given settings, and leaves the rest as it is.
   *
   * @throws {ControllerError} NOT_FOUND when the id is not that of this controller.
   * @throws {ControllerError} COULD_NOT_VALIDATE when a URI cannot be used.
   */
  async patch(call: Call, id: string, request: z.input<typeof SettingsChange>): Promise<void> {
    const change = readRequest(SettingsChange, request)
    await this.#write(call, id, change, (stored) => stored)
  }

  /**
   * Goes back to the configuration.
   *
   * @throws {ControllerError} NOT_FOUND when the id is not that of this controller.
   */
  async remove(call: Call, id: string): Promise<void> {
    requireThisController(id)
    await this.#context.writes.run(call, (tx) => tx.collection(controllerSettings).delete(CONTROLLER_ID))
  }

  async #write(
    call: Call,
    id: string,
    { oidc, tags }: Change,
    basedOn: (stored: Stored | undefined) => Stored | undefined,
  ): Promise<void> {
    requireThisController(id)
    const { redirectUris, postLogoutUris } = oidc ?? {}
    const uris = { ...(redirectUris && { redirectUris }), ...(postLogoutUris && { postLogoutUris }) }
    requireUsable('oidc.redirectUris', redirectUris)
    requireUsable('oidc.postLogoutUris', postLogoutUris)
    const now = this.#context.clock.now()
    await this.#context.writes.run(call, async (tx) => {
      const stored = await storedSettings(tx)
      const fresh = newRecord(CONTROLLER_ID, now, { redirectUris: null, postLogoutUris: null })
      const base = basedOn(stored) ?? fresh
      await store(tx, { ...base, ...uris, ...(tags && { tags }), updatedAt: now }, stored !== undefined)
    })
  }
}

/** Where clients may be sent now. */
export function effectiveUris({ settings }: EngineContext, stored: Stored | undefined): OpenIdUris {
  return {
    redirectUris: stored?.redirectUris ?? settings.openIdUris.redirectUris,
    postLogoutUris: stored?.postLogoutUris ?? settings.openIdUris.postLogoutUris,
  }
}

/** Reads the settings that were set in place of the configuration. */
export function storedSettings(tx: ReadTransaction): Promise<Stored | undefined> {
  return tx.collection(controllerSettings).get(CONTROLLER_ID)
}

async function store(tx: WriteTransaction, record: Stored, isKnown: boolean): Promise<void> {
  if (isKnown) await tx.collection(controllerSettings).update(record)
  else await tx.collection(controllerSettings).insert(record)
}

function requireThisController(id: string): void {
  readId(id)
  if (id !== CONTROLLER_ID) throw notFound('controller settings', id)
}

function requireUsable(field: string, uris: readonly string[] | null = []): void {
  for (const uri of uris ?? []) {
    const problem = redirectUriProblem(uri)
    if (problem !== undefined) throw invalidField(field, problem, uri)
  }
}
