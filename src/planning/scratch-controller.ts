import {
  type Body,
  type Model,
  ModelError,
  type ModelKey,
  type Network,
  type PlannedChange,
  pathOf,
  pathText,
} from '../model/index.ts'
import type { PasswordHasher } from '../ports/credentials.ts'
import { applyChanges, ChangeRefused } from './apply-changes.ts'
import { engineDoor } from './engine-door.ts'
import type { NetworkDoor } from './network-door.ts'
import { readNetwork } from './read-network.ts'

/** An entity that a scratch controller is to have besides those of the model. */
export interface OtherEntity {
  readonly key: ModelKey
  readonly name: string
  readonly body: Body
}

/**
 * Gives a scratch controller the entities of a model and some others, and answers the network as it keeps it: different spellings of a
 * value are equal there. Throws {@link ModelError} with the place of a refused entity.
 */
export async function tryOut(door: NetworkDoor, model: Model, others: readonly OtherEntity[] = []): Promise<Network> {
  const empty = await readNetwork(door)
  const wanted = [...others, ...model.entities].map(({ key, name, body }): PlannedChange => {
    const existing = empty.named(key, name)
    if (existing === undefined) return { action: 'create', key, name, body }
    return { action: 'update', key, name, id: existing.id, body, members: [] }
  })
  try {
    await applyChanges(door, empty, wanted)
  } catch (error) {
    throw error instanceof ChangeRefused ? refusalIn(model, error) : error
  }
  return readNetwork(door)
}

/** The refusal as a mistake in the file, when a file has the entity. */
export function refusalIn(model: Model, error: ChangeRefused): Error {
  const { key, name } = error.change
  const entity = model.entities.find((candidate) => candidate.key === key && candidate.name === name)
  if (entity === undefined || !(error.cause instanceof Error)) return error
  // The controller reports places inside a config relative to its data.
  const path = key === 'configs' && !Object.hasOwn(entity.body, error.member) ? ['data'] : pathOf(error.member)
  const subject = [`${key} '${name}'`, pathText(path)].filter((part) => part !== '').join(', ')
  // The place stands beside it, and a status and a code mean nothing in a file.
  const message = error.cause.message
    .replace(/^\d{3} [A-Z_]+: /, '')
    .replace(new RegExp(`^${escaped(error.member)} in (body|input) `), '')
    .replace(`${error.member} `, '')
  return new ModelError([{ place: entity.place(path), subject, message }])
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** A controller in memory that only this process can reach, for trying a network out. */
export interface ScratchController {
  readonly door: NetworkDoor
  close(): Promise<void>
}

/** No password of a scratch controller is a secret: it lives for as long as a question. */
const NO_HASHER: PasswordHasher = {
  hash: async (password) => password,
  verify: async (password, hash) => password === hash,
  needsRehash: () => false,
}

/** Makes an empty controller in memory; it decides as every other controller does. The controller is loaded for a model that is tried out. */
export async function createScratchController(): Promise<ScratchController> {
  const { assembleController } = await import('../controller/create-controller.ts')
  const { engineOf } = await import('../controller/guarded-engine.ts')
  const { memoryStorage } = await import('../platform/memory/memory-storage.ts')
  const controller = await assembleController(
    {
      address: 'scratch.invalid:1280',
      storage: memoryStorage(),
      passwordHasher: NO_HASHER,
      rateLimits: false,
      oidc: false,
      // A network that is tried out sends no webhooks.
      webhooks: false,
      admin: { username: 'scratch', password: 'Scratch-1-password' },
      // No router ever connects here, and connections of routers are no question of policies.
      presence: { connectionOf: () => ({ hostname: '', supportedProtocols: {} }) },
      logger: { info: ignore, warn: ignore, error: ignore },
    },
    () => Promise.reject(new TypeError('a scratch controller takes no model')),
  )
  const engine = engineOf(controller.engine)
  return { door: engineDoor(engine, engine), close: () => controller.close() }
}

function ignore(): void {}
