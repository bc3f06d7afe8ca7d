import { notFound } from '../../domain/errors.ts'
import type { GroupedKind, Grouping } from '../../domain/graph/index.ts'
import type { Digest } from '../../ports/credentials/digest.ts'

/** Hexadecimal digits of the digest of what a group has in common. */
const DIGITS = 16

/** The group that holds everybody who is in none of the largest groups: the one after so many of them. */
interface RestOf {
  readonly rest: number
}

/** Which group of which kind is meant. */
export interface GroupName {
  readonly kind: GroupedKind
  readonly by: Grouping
  /** The digest of what its members have in common. */
  readonly which: string | RestOf
}

/** What stands for a group in requests and answers. */
export function writeGroupKey({ kind, by, which }: GroupName): string {
  return `${kind}.${by}.${typeof which === 'string' ? which : `rest.${which.rest}`}`
}

/** What is written of what the members of a group have in common. */
export function commonDigest(digest: Digest, common: string): string {
  return digest.sha256(common).slice(0, DIGITS)
}

const KEY =
  /^(identities|services|edge-routers)\.(role-attribute|policy)\.(?:([0-9a-f]{16})|rest\.([2-9]|[1-9]\d|100))$/

/** Reads the key of a group. Error: `NOT_FOUND` for what is none. */
export function readGroupKey(text: string): GroupName {
  const [, kind, by, common, rest] = KEY.exec(text) ?? []
  if (kind === undefined) throw notFound('group', text)
  // The expression lets nothing else through.
  return { kind: kind as GroupedKind, by: by as Grouping, which: common ?? { rest: Number(rest) } }
}
