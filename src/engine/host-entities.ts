import type { Call } from '../context/call.ts'
import type { FormsByName, MemberName, OfferedName } from '../facts/resources/wire-forms.ts'
import type { FindQuery, Page } from '../ports/record-storage.ts'

/**
 * The operations of a host on the entities of one resource. `Kept` is a record as the engine keeps it, in which instants are
 * epoch milliseconds. Errors: `COULD_NOT_VALIDATE` with the field, `NOT_FOUND`, `METHOD_NOT_ALLOWED` where the API does not
 * offer it either, and those of the operation of the API.
 *
 * @example
 * const { id } = await controller.engine.services.create(SYSTEM_CALL, { name: 'web', roleAttributes: ['apps'] })
 * await controller.engine.services.patch(SYSTEM_CALL, id, { roleAttributes: ['intranet'] })
 */
export interface EntityService<Kept, Create, Replace, Patch> {
  /**
   * The entity of an id, as it is kept: for the host, without a call.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  get(id: string): Promise<Kept>
  /** A page of the entities that match a query, as they are kept; all of them without one. */
  find(query?: FindQuery): Promise<Page<Kept>>
  /**
   * Creates an entity with the defaults and the checks of the API.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field; or a name is taken.
   * @throws {ControllerError} NOT_FOUND when it refers to an unknown entity.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  create(call: Call, request: Create): Promise<Kept>
  /**
   * Replaces every writable member; a member that the request leaves out takes its default.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field.
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  replace(call: Call, id: string, request: Replace): Promise<Kept>
  /**
   * Changes only the members of the request.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field.
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  patch(call: Call, id: string, request: Patch): Promise<Kept>
  /**
   * Deletes an entity with everything that cannot exist without it.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} CAN_NOT_DELETE_REFERENCED_ENTITY when another entity needs it.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  delete(call: Call, id: string): Promise<void>
}

/** A question for a list, in the words of the API. */
export interface ListQuestion {
  /** A filter in the language of the API, such as `name contains "web"`; it may limit and sort as well. */
  readonly filter?: string
  /** The fields to sort by, such as `name desc`. */
  readonly sort?: string
  /** At most 500; 10 by default. */
  readonly limit?: number
  /** How many to pass over, at most 100,000. */
  readonly offset?: number
}

/** The entities of one resource, as a host sees them: as records, and in the wire form that the API shows to a caller. */
export interface HostEntities<Shown, Kept, Create, Replace, Patch> extends EntityService<Kept, Create, Replace, Patch> {
  /**
   * A page of entities in wire form, as the management API lists them to the caller.
   *
   * @throws {ControllerError} INVALID_FILTER when the filter cannot be read, or asks about facts that the caller may not read.
   * @throws {ControllerError} INVALID_SORT_IDENTIFIER when there is no such field to sort by.
   *
   * @example
   * const { items } = await controller.as(call).services.list({ filter: 'anyOf(roleAttributes) = "web"', limit: 100 })
   */
  list(call: Call, question?: ListQuestion): Promise<Page<Shown>>
  /**
   * One entity in wire form, as the management API shows it to the caller.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   */
  show(call: Call, id: string): Promise<Shown>
}

/** The entities of every resource that the API offers. */
export type HostEntityServices = {
  readonly [N in OfferedName as MemberName<N>]: HostEntities<
    FormsByName[N]['shown'],
    FormsByName[N]['kept'],
    FormsByName[N]['create'],
    FormsByName[N]['replace'],
    FormsByName[N]['patch']
  >
}

/** The same as records alone. */
export type KeptEntities = {
  readonly [N in OfferedName as MemberName<N>]: EntityService<
    FormsByName[N]['kept'],
    FormsByName[N]['create'],
    FormsByName[N]['replace'],
    FormsByName[N]['patch']
  >
}
