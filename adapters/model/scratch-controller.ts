import {
  type Body,
  type Model,
  ModelError,
  type ModelKey,
  type Network,
  type PlannedChange,
  pathOf,
  pathText,
} from '../../../src/model/index.ts'
import { applyChanges, ChangeRefused } from './apply-changes.ts'
import type { AdminOptions } from './connection.ts'
import { readNetwork } from './read-network.ts'

/** An entity that a scratch controller is to have besides those of the model. */
export interface OtherEntity {
  readonly key: ModelKey
  readonly name: string
  readonly body: Body
}

/**
 * Gives a scratch controller the entities of a model and some others, and answers the network as it keeps it: what is
 * spelled differently means the same there. Throws {@link ModelError} with the place of what the controller refuses.
 */
export async function tryOut(
  options: AdminOptions,
  model: Model,
  others: readonly OtherEntity[] = [],
): Promise<Network> {
  const empty = await readNetwork(options)
  const wanted = [...others, ...model.entities].map(({ key, name, body }): PlannedChange => {
    const existing = empty.named(key, name)
    if (existing === undefined) return { action: 'create', key, name, body }
    return { action: 'update', key, name, id: existing.id, body, members: [] }
  })
  try {
    await applyChanges(options, empty, wanted)
  } catch (error) {
    throw error instanceof ChangeRefused ? refusalIn(model, error) : error
  }
  return readNetwork(options)
}

/** The refusal as a mistake in the file, when it is about an entity of one. */
export function refusalIn(model: Model, error: ChangeRefused): Error {
  const { key, name } = error.change
  const entity = model.entities.find((candidate) => candidate.key === key && candidate.name === name)
  if (entity === undefined || !(error.cause instanceof Error)) return error
  // The controller tells places inside of a config from its data on.
  const path = key === 'configs' && !Object.hasOwn(entity.body, error.member) ? ['data'] : pathOf(error.member)
  const subject = [`${key} '${name}'`, pathText(path)].filter((part) => part !== '').join(', ')
  return new ModelError([{ place: entity.place(path), subject, message: error.cause.message }])
}
