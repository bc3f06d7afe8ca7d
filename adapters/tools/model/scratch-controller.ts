import { createManagementClient } from '../../../src/client/index.ts'
import { type Controller, createController, type PasswordHasher } from '../../../src/index.ts'
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
import { memoryStorage } from '../../storage/memory/index.ts'
import { applyChanges, ChangeRefused } from './apply-changes.ts'
import type { AdminOptions } from './model-connection.ts'
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
    .replace(`${error.member} in body `, '')
    .replace(`${error.member} `, '')
  return new ModelError([{ place: entity.place(path), subject, message }])
}

const BASE_URL = 'https://scratch.invalid:1280'

/** A controller in memory that only this process can reach, for trying a network out. */
export interface ScratchController {
  readonly options: AdminOptions
  close(): Promise<void>
}

/** The password of the scratch controller is no secret: it guards nothing, and lives for as long as a question. */
const NO_HASHER: PasswordHasher = {
  hash: async (password) => password,
  verify: async (password, hash) => password === hash,
  needsRehash: () => false,
}

/** Makes an empty controller in memory and logs in to it; it decides as every other controller does. */
export async function createScratchController(): Promise<ScratchController> {
  const admin = { username: 'scratch', password: 'Scratch-1-password' }
  const controller: Controller = await createController({
    address: new URL(BASE_URL).host,
    storage: memoryStorage(),
    passwordHasher: NO_HASHER,
    rateLimits: false,
    // A network that is tried out sends no webhooks.
    webhooks: false,
    // No router ever connects here, and connections of routers are no question of policies.
    presence: { connectionOf: () => ({ hostname: '', supportedProtocols: {} }) },
    admin,
    logger: { info: ignore, warn: ignore, error: ignore },
  })
  const fetch = (request: Request) => controller.fetch(request)
  const management = createManagementClient({ baseUrl: BASE_URL, fetch })
  const { data } = await management.call('POST /authenticate', { query: { method: 'password' }, body: admin })
  return { options: { baseUrl: BASE_URL, fetch, token: data.token }, close: () => controller.close() }
}

function ignore(): void {}
