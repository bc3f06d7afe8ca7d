import type { Call } from '../context/call.ts'
import type { FormsByName, MemberName, OfferedName } from '../facts/resources/wire-forms.ts'
import type { Page } from '../ports/record-storage.ts'

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

/** Reads the entities of one resource in their wire form: as the API shows them to the caller, with instants in RFC 3339. */
export interface HostReader<Shown> {
  /**
   * The entity of an id.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   *
   * @example
   * const { name, createdAt } = await controller.engine.services.get(SYSTEM_CALL, id)
   */
  get(call: Call, id: string): Promise<Shown>
  /**
   * A page of the entities that match a question.
   *
   * @throws {ControllerError} INVALID_FILTER when the filter cannot be read, or asks about facts that the caller may not read.
   * @throws {ControllerError} INVALID_SORT_IDENTIFIER when there is no such field to sort by.
   *
   * @example
   * const { items } = await controller.as(caller).services.list({ filter: 'anyOf(roleAttributes) = "web"', limit: 100 })
   */
  list(call: Call, question?: ListQuestion): Promise<Page<Shown>>
}

/**
 * The operations of a host on the entities of one resource. Each answers the entity in the same wire form as {@link HostReader}; a call
 * that creates or changes it therefore needs the right to read it too. Errors: `COULD_NOT_VALIDATE` with the field, `NOT_FOUND`,
 * `METHOD_NOT_ALLOWED` where the API does not offer it either, and those of the operation of the API.
 *
 * @example
 * const { id } = await controller.engine.services.create(SYSTEM_CALL, { name: 'web', roleAttributes: ['apps'] })
 * await controller.engine.services.patch(SYSTEM_CALL, id, { roleAttributes: ['intranet'] })
 */
export interface HostEntities<Shown, Create, Replace, Patch> extends HostReader<Shown> {
  /**
   * Creates an entity with the defaults and the checks of the API.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field; or a name is taken.
   * @throws {ControllerError} NOT_FOUND when it refers to an unknown entity.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  create(call: Call, request: Create): Promise<Shown>
  /**
   * Replaces every writable member; a member that the request leaves out takes its default.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field.
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  replace(call: Call, id: string, request: Replace): Promise<Shown>
  /**
   * Changes only the members of the request.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field.
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  patch(call: Call, id: string, request: Patch): Promise<Shown>
  /**
   * Deletes an entity with everything that cannot exist without it.
   *
   * @throws {ControllerError} NOT_FOUND for an unknown id.
   * @throws {ControllerError} CAN_NOT_DELETE_REFERENCED_ENTITY when another entity needs it.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  delete(call: Call, id: string): Promise<void>
}

/** The entities of every resource that the API offers. */
export type HostEntityServices = {
  readonly [N in OfferedName as MemberName<N>]: HostEntities<
    FormsByName[N]['shown'],
    FormsByName[N]['create'],
    FormsByName[N]['replace'],
    FormsByName[N]['patch']
  >
}
