import { LARGEST_PAGE } from '../base/limits.ts'
import type { AssertedPosture } from '../model/index.ts'

/** The operations of one resource for a planner: their shapes are the same for all resources that models know. */
export interface EntityDoor {
  list(query: { readonly limit: number; readonly offset: number }): Promise<EntityPage>
  /** The id of the entity that an id stands for. */
  find(id: string): Promise<string>
  /** Answers the id of the new entity. */
  create(body: object): Promise<string>
  replace(id: string, body: object): Promise<void>
  patch(id: string, body: object): Promise<void>
  delete(id: string): Promise<void>
}

export interface EntityPage {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly totalCount: number
}

/** A config of an identity for a service, by ids. */
export interface ServiceConfigIds {
  readonly serviceId: string
  readonly configId: string
}

/** A question about access, with ids. */
export interface AccessQuestion {
  readonly identity: string
  readonly service: string
  readonly type: 'Dial' | 'Bind'
  /** RFC 3339. */
  readonly at?: string | undefined
  readonly posture?: AssertedPosture | undefined
}

/** The parts of an explanation that assertions are held against. */
export interface AccessAnswer {
  readonly allowed: boolean
  readonly text: string
  readonly policies: readonly {
    readonly name: string
    readonly applies: boolean
    readonly checks: readonly { readonly name: string }[]
  }[]
  readonly edgeRouters: { readonly common: readonly { readonly name: string }[] }
}

/** A network as a planner reads and changes it: that of a controller in this process, or behind its API. */
export interface NetworkDoor {
  /** The entities of the resource of a name, as `services`. Its changes reject with {@link RefusedRequest}. */
  entities(resource: string): EntityDoor
  readonly serviceConfigs: {
    /** Those of all identities, or at least of the named identities. */
    list(identityIds: readonly string[]): Promise<readonly (ServiceConfigIds & { readonly identityId: string })[]>
    associate(identityId: string, pairs: readonly ServiceConfigIds[]): Promise<void>
    remove(identityId: string, pairs: readonly ServiceConfigIds[]): Promise<void>
  }
  explain(question: AccessQuestion): Promise<AccessAnswer>
}

/** The network refused a change, with a reason for people. */
export class RefusedRequest extends Error {
  /** The member that the controller named; empty without a name. */
  readonly member: string
  /** True when the entity is not there. */
  readonly isAbsent: boolean

  constructor(cause: Error, named: { readonly member: unknown; readonly isAbsent: boolean }) {
    super(cause.message, { cause })
    this.name = 'RefusedRequest'
    this.member = typeof named.member === 'string' ? named.member : ''
    this.isAbsent = named.isAbsent
  }
}

/** Every entity behind a door, page by page. */
export async function listAll(
  list: (query: { readonly limit: number; readonly offset: number }) => Promise<EntityPage>,
): Promise<readonly EntityPage['items'][number][]> {
  const found: EntityPage['items'][number][] = []
  for (let total = 1; found.length < total; ) {
    const { items, totalCount } = await list({ limit: LARGEST_PAGE, offset: found.length })
    found.push(...items)
    total = items.length === 0 ? 0 : totalCount
  }
  return found
}
