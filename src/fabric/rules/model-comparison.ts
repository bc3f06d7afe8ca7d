/** Where the data model of a router is another one than that of the controller. */
export interface ModelDifference {
  /** In the words of the router, as `identity` or `service-policy`; `subscriber` for what it derived for a connected client. */
  readonly entityType: string
  readonly entityId: string
  /** The router has what there is not, has it otherwise, or lacks it. */
  readonly kind: 'added' | 'modified' | 'removed'
  readonly detail: string
}

/** Parts of the model that not every router can compare. */
export type ModelPart = 'revocations' | 'config-overrides'

const REVOCATIONS = 'revocations'
/** How routers name the configs that an identity has of its own. */
const OVERRIDES = '.ServiceConfigs'
/** Numbers of capabilities of routers: routers from 2.0 on say the first, those from 2.1 on the second. */
const MULTI_CHANNEL = 1
const POSTURE_CHECKS = 5

/** Reports whether a router judges the posture of bearer sessions, by its capabilities: those of the line 1.6 do not. */
export function judgesPosture(capabilities: readonly number[]): boolean {
  return capabilities.includes(POSTURE_CHECKS) || capabilities.includes(MULTI_CHANNEL)
}

/**
 * Lists the parts that a router with these capabilities must not be given to compare: a router before 2.1 ends when it
 * compares revocations, or an identity that has configs of its own, with what it has.
 */
export function partsNotCompared(capabilities: readonly number[]): readonly ModelPart[] {
  return capabilities.includes(POSTURE_CHECKS) ? [] : ['config-overrides', 'revocations']
}

/** A router before 2.0 ends on any comparison while a client is connected that has configs of its own. */
export function survivesOverrides(capabilities: readonly number[]): boolean {
  return capabilities.includes(MULTI_CHANNEL)
}

/**
 * Finds the differences that a router reported, less those that follow because it was not given some parts. Of revocations
 * that it was not given it reports each as one too many: those that there are not, and those that it lacks, remain.
 */
export function differencesOf(
  reported: readonly ModelDifference[],
  parts: readonly ModelPart[],
  revocations: ReadonlySet<string>,
): readonly ModelDifference[] {
  const withoutOverrides = parts.includes('config-overrides')
    ? reported.filter(({ kind, detail }) => kind !== 'modified' || !detail.includes(OVERRIDES))
    : reported
  if (!parts.includes('revocations')) return withoutOverrides
  const isRevocation = ({ entityType }: ModelDifference) => entityType === REVOCATIONS
  const known = new Set(reported.filter(isRevocation).map(({ entityId }) => entityId))
  const lacking = [...revocations].filter((id) => !known.has(id))
  return [
    ...withoutOverrides.filter((difference) => !isRevocation(difference) || !revocations.has(difference.entityId)),
    ...lacking.map((entityId) => {
      return { entityType: REVOCATIONS, entityId, kind: 'removed' as const, detail: 'entity missing' }
    }),
  ]
}
