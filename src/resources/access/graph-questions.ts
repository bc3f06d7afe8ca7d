import { z } from 'zod'

const DEFAULT_GROUPS = 40
const MAX_GROUPS = 100
const DEFAULT_MEMBERS = 50
const MAX_MEMBERS = 200

/** How many members, or finds of one kind, an answer has at most. */
const Limit = z.int().min(1).max(MAX_MEMBERS).default(DEFAULT_MEMBERS)

/** The key of a group, as a graph has it. */
export const GroupKey = z.string().max(256)

/** Where a page begins: the cursor of the page before. */
export const PageCursor = z.string().max(4096)

/** A part of a name. */
export const PartOfName = z.string().max(256)

/** Which graph is wanted: what the members of a group have in common, and how many groups of each kind there are at most. */
export const GraphRequest = z.object({
  groupBy: z.enum(['role-attribute', 'policy']).default('role-attribute'),
  groups: z.int().min(2).max(MAX_GROUPS).default(DEFAULT_GROUPS),
})

/** Which page of the members of a group is wanted, of those whose name holds a text. */
export const MembersRequest = z.object({
  group: GroupKey,
  text: PartOfName.default(''),
  limit: Limit,
  cursor: PageCursor.optional(),
})

/** Which rows and columns of the matrix of two groups are wanted. */
export const MatrixRequest = z.object({
  identities: GroupKey,
  services: GroupKey,
  limit: Limit,
  identitiesAfter: PageCursor.optional(),
  servicesAfter: PageCursor.optional(),
})

/** What is looked for by name. */
export const SearchRequest = z.object({ q: PartOfName, limit: Limit })
