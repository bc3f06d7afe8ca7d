import {
  membersOf,
  POSTURE_CHECK_KINDS,
  POSTURE_CHECK_TYPE_IDS,
  type PostureCheckMember,
  type PostureCheckTypeId,
} from '../../domain/posture/index.ts'

type Body = Readonly<Record<string, unknown>>

/** The members that belong to some type of check. */
const ALL_MEMBERS: Readonly<Record<string, PostureCheckMember>> = Object.assign(
  {},
  ...POSTURE_CHECK_TYPE_IDS.map(membersOf),
)

/** `postureCheckDomainCreate` and its siblings are other documented names of the types. */
const TYPE_IDS: ReadonlyMap<unknown, PostureCheckTypeId> = new Map(
  POSTURE_CHECK_TYPE_IDS.flatMap((typeId) => {
    const { schemaName } = POSTURE_CHECK_KINDS[typeId]
    const names = ['Create', 'Update', 'Patch'].map((operation) => `postureCheck${schemaName}${operation}`)
    return [typeId, ...names].map((name) => [name, typeId] as const)
  }),
)

/**
 * Puts the other documented spellings of a posture check right: `attributes` for `roleAttributes`, schema names such as
 * `postureCheckDomainCreate` for `DOMAIN`, and what each type takes for its members.
 *
 * Members of other types are dropped before anything is validated: the deployed admin console sends those of every type,
 * empty where its form was not filled in. Where the type is not told, as a replacement need not, all are kept.
 */
export function postureCheckSpellings(body: Body): Body {
  const { attributes, ...rest } = body
  const typeId = TYPE_IDS.get(body.typeId)
  const own = body.typeId === undefined ? ALL_MEMBERS : typeId === undefined ? {} : membersOf(typeId)
  const members = Object.entries(rest).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (!Object.hasOwn(ALL_MEMBERS, name)) return [[name, value]]
    const member = own[name]
    return member === undefined ? [] : [[name, member.spelled === undefined ? value : member.spelled(value)]]
  })
  return {
    ...Object.fromEntries(members),
    ...(attributes !== undefined && (rest.roleAttributes ?? null) === null ? { roleAttributes: attributes } : {}),
    ...(typeId === undefined ? {} : { typeId }),
  }
}
