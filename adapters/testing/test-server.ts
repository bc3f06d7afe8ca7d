import { checkOptions, type OptionRules } from '../../src/base/arguments.ts'
import type { ModelInput } from '../model/index.ts'
import { createTestController, TEST_ADMIN } from './create-test-controller.ts'
import { letEverybodyUse } from './routed-controller.ts'
import { openControl } from './test-control.ts'

/** A throwaway controller for tests in any language. */
export interface TestServerOptions {
  /** The network that it begins with: an object, a YAML text with its name, or the name of a file. Default: an empty one. */
  readonly model?: ModelInput
  /** Whether its clock goes by itself, or stands still until a test turns it. Default: `live`. */
  readonly clock?: 'live' | 'turned'
  /** The address to bind. Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: 0, the system chooses. */
  readonly port?: number
  /** Runs an edge router on the same port, which every identity and service may use: SDKs dial and host by it. Default: false. */
  readonly router?: boolean
}

const OPTIONS: OptionRules<TestServerOptions> = {
  model: 'unknown',
  clock: { oneOf: ['live', 'turned'] },
  host: 'string',
  port: 'number',
  router: 'boolean',
}

/** All that a test has to know of a throwaway controller; it goes into one line of JSON. */
export interface TestServerFacts {
  /** `https://HOST:PORT` */
  readonly url: string
  /** The authorities by which clients know it, PEM. */
  readonly ca: string
  /** The administrator, and the token of a session of its own, for the header `zt-session`. */
  readonly admin: { readonly username: string; readonly password: string; readonly token: string }
  /** The enrollment tokens (JWT) of the identities of the model, by name. */
  readonly invitations: Readonly<Record<string, string>>
  /** Where the clock is turned and faults are injected, over plain HTTP: `docs/testing.md` lists the operations. */
  readonly control: string
}

/** A throwaway controller that runs. */
export interface TestServer {
  readonly facts: TestServerFacts
  close(): Promise<void>
}

/**
 * Serves a test controller over HTTPS, with all that a test in any language needs to use it.
 *
 * @example
 * const server = await startTestServer({ model: 'network.yaml' })
 * console.log(JSON.stringify(server.facts))
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  checkOptions('startTestServer', options, OPTIONS)
  const { model, clock = 'live', host, port, router = false } = options
  const net = await createTestController({ clock })
  try {
    const listening = await net.listen({
      fabric: router,
      router,
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
    })
    const [own] = (await net.admin.call('GET /edge-routers')).data
    if (own !== undefined) await letEverybodyUse(net.admin, own.id)
    // Tokens name the address from here on.
    if (model !== undefined) await net.seed(model)
    const invitations: Record<string, string> = {}
    const invited = 'isDefaultAdmin = false and not (type = "Router")'
    for await (const { name } of net.admin.listAll('GET /identities', { filter: invited })) {
      invitations[name] = (await net.invite(name)).jwt
    }
    const login = { query: { method: 'password' as const }, body: TEST_ADMIN }
    const { token } = (await net.management.call('POST /authenticate', login)).data
    const control = await openControl(net)
    const { url, ca } = listening
    return {
      facts: { url, ca, admin: { ...TEST_ADMIN, token }, invitations, control: control.url },
      close: async () => {
        await control.close()
        await net.close()
      },
    }
  } catch (error) {
    await net.close()
    throw error
  }
}
