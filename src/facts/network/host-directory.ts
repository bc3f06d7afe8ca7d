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
   * Called once. From then on the host calls `listener` after each change of the directory. Its promise resolves when access that the
   * change takes has ended, and never rejects. Answers the function that ends this.
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
