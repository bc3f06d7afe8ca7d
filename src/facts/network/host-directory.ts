import { z } from 'zod'
import { EpochMs } from '../../kernel/declaration/fields.ts'
import { isGivenAttribute, MOST_GIVEN } from '../authority/authority.rules.ts'
import type { DirectoryAnswer as Answer } from '../identities/directory.rules.ts'

/** Milliseconds that a directory may take to answer. */
export const DIRECTORY_ANSWER_MS = 3000

/** An identity, as a directory is asked about it. */
export interface DirectoryIdentity {
  readonly id: string
  readonly name: string
  /** The name by which other systems know the identity; null without such a name. */
  readonly externalId: string | null
}

/** The entry of an identity in a directory. */
export interface DirectoryEntry {
  readonly roleAttributes: readonly string[]
  /** True while the identity may not connect. Default: false. */
  readonly disabled?: boolean
  /** When the role attributes end, a date or epoch ms. Default: they last. */
  readonly until?: Date | number
}

/** A person, as a directory is asked for it. */
export type DirectorySearch = { readonly externalId: string } | { readonly name: string }
/** The same as a host asks for the identity of a person. */
export const DirectorySearchRequest: z.ZodType<DirectorySearch> = z.union([
  z.strictObject({ externalId: z.string().min(1) }),
  z.strictObject({ name: z.string().min(1) }),
])

/** A person of a directory. The first login makes an identity with these fields. */
export interface DirectoryPerson {
  /** The name of the identity, unique among identities. */
  readonly name: string
  /** The name by which other systems know the person. Default: none. */
  readonly externalId?: string | null | undefined
}

/** The identities whose entries in a directory changed. */
export type DirectoryChange = { readonly id: string } | { readonly externalId: string } | 'all'
/** A change as a host reports it. */
export const ReportedChange: z.ZodType<DirectoryChange> = z.union([
  z.literal('all'),
  z.object({ id: z.string() }),
  z.object({ externalId: z.string() }),
])

/**
 * A directory of the host. It gives identities role attributes, in addition to the stored role attributes.
 *
 * @example
 * import type { HostDirectory } from 'portcullis'
 * const groups = new Map([['anna', ['staff']]])
 * const directory: HostDirectory = { attributesOf: async ({ externalId }) => groups.get(externalId ?? '') }
 */
export interface HostDirectory {
  /**
   * The entry of an identity, or its role attributes alone; undefined for an identity that the directory does not know. It may take 3 s. A
   * rejection, a later answer or an invalid answer is logged and changes nothing.
   */
  attributesOf(identity: DirectoryIdentity): Promise<readonly string[] | DirectoryEntry | undefined>
  /**
   * The person of an external id or of a name; undefined where the directory knows no such person. It may take 3 s. Asked at a login that
   * names no identity by its external id, and where the host begins a session of a person: the identity is made then. A rejection, a later
   * answer or another person is logged, and no identity is made. Default: identities are made before their first login.
   *
   * @example
   * import type { HostDirectory } from 'portcullis'
   * const users = new Map([['anna', 'Anna']])
   * const find: HostDirectory['find'] = async (wanted) => {
   *   if (!('externalId' in wanted)) return undefined
   *   const name = users.get(wanted.externalId)
   *   return name === undefined ? undefined : { name, externalId: wanted.externalId }
   * }
   */
  find?(wanted: DirectorySearch): Promise<DirectoryPerson | undefined>
  /**
   * Called once. From then on the host calls `listener` after each change of the directory. Its promise resolves when access that the
   * change takes has ended, however long the storage is away, or where the directory gave no answer about it. It never rejects. Answers
   * the function that ends this.
   */
  changed?(listener: (change: DirectoryChange) => Promise<void>): () => void
  /** Milliseconds for which an answer counts, from 1 minute to 30 days. Default: 1 hour. */
  readonly keepForMs?: number
}

const Attribute = z.string().refine(isGivenAttribute, {
  error: 'a role attribute has 1 to 1024 characters, and may not begin with # or @',
})
const Attributes = z.array(Attribute).max(MOST_GIVEN)
const Entry = z.object({
  roleAttributes: Attributes,
  disabled: z.boolean().default(false),
  until: z
    .union([z.date().transform((date) => date.getTime()), EpochMs])
    .nullish()
    .transform((until) => until ?? null),
})
/** Every answer of a directory in one form; undefined for an identity that the directory does not know. */
export const DirectoryAnswer: z.ZodType<Answer> = z
  .union([Attributes.transform((roleAttributes) => ({ roleAttributes, disabled: false, until: null })), Entry])
  .optional()

/** Reads the person that a directory found; undefined for an unknown person. Throws for an invalid answer, or another person than was wanted. */
export function readPerson(wanted: DirectorySearch, found: unknown): DirectoryPerson | undefined {
  const Person = z.object({ name: z.string(), externalId: z.string().nullish() }).optional()
  const person = Person.parse(found)
  const isWanted = 'name' in wanted ? person?.name === wanted.name : person?.externalId === wanted.externalId
  if (person === undefined || isWanted) return person
  throw new TypeError('the directory found another person than it was asked for')
}
