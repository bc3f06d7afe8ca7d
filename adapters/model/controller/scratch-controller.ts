import { createManagementClient } from '../../../src/client/index.ts'
import { type Controller, createController, type PasswordHasher } from '../../../src/index.ts'
import { memoryStorage } from '../../memory/index.ts'
import type { AdminOptions } from './connection.ts'

const BASE_URL = 'https://scratch.invalid:1280'

/** A controller in memory that nobody but this process can reach, for trying a network out. */
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
    // No router will ever connect, and whether one does is no question of policies.
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
