import type { FindQuery, Page } from '../../ports/storage.ts'
import type { Call } from '../context/call.ts'

/**
 * What a host does with the entities of one resource: `Kept` is what the engine answers, in which instants are epoch
 * milliseconds; the rest is what it is asked for, in the words of the API. Errors: `COULD_NOT_VALIDATE` with the field,
 * `NOT_FOUND`, `METHOD_NOT_ALLOWED` where the API does not offer it either, and those of the operation of the API.
 *
 * @example
 * const { id } = await controller.engine.services.create(SYSTEM_CALL, { name: 'web', roleAttributes: ['apps'] })
 * await controller.engine.services.patch(SYSTEM_CALL, id, { roleAttributes: ['intranet'] })
 */
export interface EntityService<Kept, Create, Replace, Patch> {
  /**
   * The entity of an id.
   *
   * @throws {ControllerError} NOT_FOUND when there is none of the id.
   */
  get(id: string): Promise<Kept>
  /** A page of the entities that match a query; all of them without one. */
  find(query?: FindQuery): Promise<Page<Kept>>
  /**
   * Creates an entity with the defaults of the API; what the API would refuse is refused.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field; or a name is taken.
   * @throws {ControllerError} NOT_FOUND when it refers to what is not there.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  create(call: Call, request: Create): Promise<Kept>
  /**
   * Replaces everything that a caller may write; what the request leaves out takes its default.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field.
   * @throws {ControllerError} NOT_FOUND when there is none of the id.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  replace(call: Call, id: string, request: Replace): Promise<Kept>
  /**
   * Changes only what the request holds.
   *
   * @throws {ControllerError} COULD_NOT_VALIDATE when the API would refuse the request, with the field.
   * @throws {ControllerError} NOT_FOUND when there is none of the id.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  patch(call: Call, id: string, request: Patch): Promise<Kept>
  /**
   * Deletes an entity with everything that cannot be without it.
   *
   * @throws {ControllerError} NOT_FOUND when there is none of the id.
   * @throws {ControllerError} CAN_NOT_DELETE_REFERENCED_ENTITY when something needs it.
   * @throws {ControllerError} METHOD_NOT_ALLOWED when the API does not offer it either.
   */
  delete(call: Call, id: string): Promise<void>
}
