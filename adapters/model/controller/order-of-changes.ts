import { type Body, kindOfKey, linksOf, type PlannedChange, renameLinks } from '../../../src/model/index.ts'

/** A change with the body to send for it, in names. */
export interface OrderedChange {
  readonly change: PlannedChange
  readonly body: Body
  /** It gives an entity, created before, what could not be named when it was created. */
  readonly isCompletion: boolean
}

type Creation = PlannedChange & { readonly action: 'create' }

/**
 * Changes in an order in which each names only what is there by then: creations first, what others refer to before these.
 * Where entities refer to each other in a circle, as a signer and an auth policy may, one is created without the reference
 * and not in use, and is completed afterwards.
 */
export function inOrderOfLinks(changes: readonly PlannedChange[]): readonly OrderedChange[] {
  const creations = new Map(changes.filter(isCreation).map((change) => [`${change.key} ${change.name}`, change]))
  const ordered: OrderedChange[] = []
  const states = new Map<Creation, 'begun' | 'done'>()
  const visit = (change: Creation): void => {
    if (states.has(change)) return
    states.set(change, 'begun')
    const kind = kindOfKey(change.key)
    const isLater = (key: string, name: string) => {
      const target = creations.get(`${key} ${name}`)
      return target !== undefined && states.get(target) === 'begun'
    }
    for (const { to, name } of linksOf(kind, change.body)) {
      const target = creations.get(`${to} ${name}`)
      if (target !== undefined) visit(target)
    }
    const isCircular = linksOf(kind, change.body).some(({ to, name }) => isLater(to, name))
    if (isCircular) {
      const body = renameLinks(kind, change.body, (to, name) => (isLater(to, name) ? undefined : name))
      ordered.push({ change, body: withoutEffect(body), isCompletion: false })
      completions.push({ change, body: change.body, isCompletion: true })
    } else ordered.push({ change, body: change.body, isCompletion: false })
    states.set(change, 'done')
  }
  const completions: OrderedChange[] = []
  for (const creation of creations.values()) visit(creation)
  const others = changes.filter((change) => change.action !== 'create')
  return [
    ...ordered,
    ...completions,
    ...others.map((change) => ({ change, body: change.action === 'delete' ? {} : change.body, isCompletion: false })),
  ]
}

function isCreation(change: PlannedChange): change is Creation {
  return change.action === 'create'
}

/** A signer that is not complete yet must let nobody in. */
function withoutEffect(body: Body): Body {
  return 'enabled' in body ? { ...body, enabled: false } : body
}
