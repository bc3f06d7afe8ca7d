import type { ApiClient, PortcullisApi } from 'portcullis/client'
import { createTestController, type TestController, type TestControllerOptions } from 'portcullis/testing'
import { onTestFinished } from 'vitest'
import { CLIENT, create, type ForeignClient, foreignClient, MANAGEMENT } from '../contract/http/foreign-client.ts'
import type { MountedController } from '../contract/http/mount.ts'
import { adminToken, ownApi } from './delegate.ts'
import { mountOf } from './mount.ts'
import { type Person, person } from './people.ts'
import { withSharedPki } from './shared-pki.ts'

type Fields = Readonly<Record<string, unknown>>

/** The ids of what was made before, by the names that the test gave. */
export type Made = Readonly<Record<string, string>>

/** The collection of an entity, and its fields; a function of the ids that were made before it, where the fields name one. */
export type Entity = readonly [path: string, fields: Fields | ((made: Made) => Fields)]

/** A network that a test begins with: the options of `createTestController`, identities with a password, and entities. */
export interface NetworkOptions<Who extends string = never, What extends string = never> extends TestControllerOptions {
  /** By name, with what they differ in from a user without rights. They are made after the entities. */
  readonly people?: Readonly<Record<Who, Fields | ((made: Made) => Fields)>>
  /** Made by the admin, in their order. */
  readonly entities?: Readonly<Record<What, Entity>>
}

/** A controller of a test, and who calls it. */
export interface Network {
  readonly controller: TestController
  /** The controller, as tests of the HTTP contract call it. */
  readonly mounted: MountedController
  /** The management API as the admin. */
  readonly admin: ForeignClient
  /** Our own API in the same API session. */
  readonly api: ApiClient<PortcullisApi>
  /** The token of that session. */
  readonly token: string
  /** The client API without a session. */
  readonly anybody: ForeignClient
  /** The instant that comes after some milliseconds, as requests spell it. */
  later(milliseconds: number): string
}

/**
 * Builds a network in process; it is gone when the test is. Answers the people and the ids of the entities by their names. Networks
 * share their certificates unless the options name some. For a network on a socket, use `controller.listen()`.
 */
export async function network<Who extends string = never, What extends string = never>({
  people,
  entities,
  ...options
}: NetworkOptions<Who, What> = {}): Promise<Network & Readonly<Record<Who, Person>> & Readonly<Record<What, string>>> {
  const controller = await createTestController(await withSharedPki(options))
  onTestFinished(() => controller.close())
  const mounted = mountOf(controller)
  const token = await adminToken(controller)
  const admin = foreignClient(mounted, MANAGEMENT, token)
  const made: Record<string, string> = {}
  for (const [name, [path, fields]] of Object.entries<Entity>(entities ?? {})) {
    made[name] = await create(admin, path, typeof fields === 'function' ? fields(made) : fields)
  }
  const persons: Record<string, Person> = {}
  for (const [name, change] of Object.entries<Fields | ((made: Made) => Fields)>(people ?? {})) {
    persons[name] = await person(mounted, admin, name, typeof change === 'function' ? change(made) : change)
  }
  const parts: Network = {
    controller,
    mounted,
    admin,
    api: ownApi(controller, token),
    token,
    anybody: foreignClient(mounted, CLIENT),
    later: (milliseconds) => new Date(controller.clock.now() + milliseconds).toISOString(),
  }
  // Each name of the options has become a member above.
  return { ...parts, ...persons, ...made } as Network & Readonly<Record<Who, Person>> & Readonly<Record<What, string>>
}

/** An edge router that every identity and service may use, as entities of {@link network}. */
export const ROUTER_FOR_ALL = {
  router: ['/edge-routers', { name: 'router' }],
  routersForPeople: [
    '/edge-router-policies',
    { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#all'], identityRoles: ['#all'] },
  ],
  routersForServices: [
    '/service-edge-router-policies',
    { name: 'all', semantic: 'AnyOf', edgeRouterRoles: ['#all'], serviceRoles: ['#all'] },
  ],
} as const satisfies Readonly<Record<string, Entity>>
