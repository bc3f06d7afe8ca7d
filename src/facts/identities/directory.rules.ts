import { z } from 'zod'
import { isSameList } from '../../base/collections.ts'
import { isStorable } from '../../base/text.ts'
import { EpochMs } from '../../kernel/declaration/fields.ts'
import type { RecordOf } from '../../kernel/declaration/resource.ts'
import type { identities } from './identity.resource.ts'

type Identity = RecordOf<typeof identities>

/** Milliseconds that a directory may take to answer. */
export const DIRECTORY_ANSWER_MS = 3000
/** Milliseconds after which a directory that gave no answer is asked again. */
export const ASK_AGAIN_MS = 60_000
const MOST_ATTRIBUTES = 500

/** An identity, as a directory is asked about it. */
export interface DirectoryIdentity {
  readonly id: string
  readonly name: string
  /** The name by which other systems know the identity; null without such a name. */
  readonly externalId: string | null
}

/** What a directory says of an identity that it knows. */
export interface DirectoryEntry {
  readonly roleAttributes: readonly string[]
  /** True while the identity may not connect. Default: false. */
  readonly disabled?: boolean
  /** When the role attributes end, a date or epoch ms. Default: they last. */
  readonly until?: Date | number
}

/** The identities whose entries in a directory changed. */
export type DirectoryChange = { readonly id: string } | { readonly externalId: string } | 'all'

/**
 * A directory of the host, which gives identities role attributes beside those that callers write.
 *
 * @example
 * import type { HostDirectory } from 'portcullis'
 * const groups = new Map([['anna@example.org', ['staff']]])
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

const Attribute = z
  .string()
  .min(1)
  .max(1024)
  .refine((text) => isStorable(text) && !/^[#@]/.test(text), { error: 'a role attribute may not begin with # or @' })
const Attributes = z.array(Attribute).max(MOST_ATTRIBUTES)
const Entry = z.object({
  roleAttributes: Attributes,
  disabled: z.boolean().optional(),
  until: z.union([z.date().transform((date) => date.getTime()), EpochMs]).optional(),
})
/** Every answer of a directory in one form; undefined for an identity that it does not know. */
export const DirectoryAnswer = z
  .union([Attributes.transform((roleAttributes) => ({ roleAttributes })), Entry])
  .optional()
export type DirectoryAnswer = z.output<typeof DirectoryAnswer>

/** The identity with the answer of a directory at `now` (epoch ms); the same record where the answer is known and not due soon. */
export function withDirectoryAnswer(
  identity: Identity,
  answer: DirectoryAnswer,
  now: number,
  keepForMs: number,
): Identity {
  const {
    roleAttributes,
    disabled = false,
    until = Number.POSITIVE_INFINITY,
  }: z.output<typeof Entry> = answer ?? {
    roleAttributes: [],
  }
  const given = now < until ? [...new Set(roleAttributes)].sort() : []
  const next: Identity = {
    ...identity,
    directoryAttributes: given.length === 0 ? null : given,
    directoryUntil: given.length === 0 ? null : Math.min(now + keepForMs, until),
    directoryDisabledAt: disabled ? (identity.directoryDisabledAt ?? now) : null,
    directoryDueAt: answer === undefined ? null : now + Math.floor(keepForMs / 2),
  }
  if (!isSameEntry(identity, next)) return { ...next, updatedAt: now }
  // A process that asks makes the identity due again in ASK_AGAIN_MS: nearer than that, the answer is due.
  const isAwaited = identity.directoryDueAt !== null && identity.directoryDueAt <= now + ASK_AGAIN_MS
  const endsSooner = (next.directoryUntil ?? now) < (identity.directoryUntil ?? now)
  const isKnown = (identity.directoryDueAt === null) === (next.directoryDueAt === null)
  return isAwaited || endsSooner || !isKnown ? next : identity
}

/** The identity without the role attributes of a directory that were not given again in time. */
export function withoutDirectoryAttributes(identity: Identity, now: number): Identity {
  return { ...identity, directoryAttributes: null, directoryUntil: null, updatedAt: now }
}

/** Reports whether a directory gives an identity the same in both states, however long it counts. */
export function isSameEntry(before: Identity, after: Identity): boolean {
  return (
    isSameList(before.directoryAttributes ?? [], after.directoryAttributes ?? []) &&
    before.directoryDisabledAt === after.directoryDisabledAt
  )
}

/** An entity with its role attributes, as far as it was read. Only identities have some of a directory. */
export interface AttributeHolder {
  readonly roleAttributes?: unknown
  readonly directoryAttributes?: unknown
  readonly directoryUntil?: unknown
}

/** The role attributes that a directory gives: at `now` (epoch ms), or by the last write of the identity. */
export function attributesGiven(entity: AttributeHolder, now = Number.NEGATIVE_INFINITY): readonly string[] {
  const { directoryAttributes: given, directoryUntil: until } = entity
  return Array.isArray(given) && !(typeof until === 'number' && until <= now) ? given : []
}

/** The role attributes by which policies select an entity: its own, and those that a directory gives at `now` (epoch ms). */
export function attributesHeld(entity: AttributeHolder, now?: number): readonly string[] {
  const own: readonly string[] = Array.isArray(entity.roleAttributes) ? entity.roleAttributes : []
  const given = attributesGiven(entity, now)
  return given.length === 0 ? own : [...new Set([...own, ...given])]
}

/** Reports whether a change of an identity only moves the instants at which a directory is asked and what it gave ends. */
export function isDirectoryRenewal(before: object | undefined, after: object | undefined): boolean {
  if (before === undefined || after === undefined) return false
  if (Reflect.get(before, 'directoryDueAt') === Reflect.get(after, 'directoryDueAt')) return false
  const rest = (record: object) => JSON.stringify({ ...record, directoryDueAt: null, directoryUntil: null })
  return rest(before) === rest(after)
}
