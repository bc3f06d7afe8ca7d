import type { Explanation, PolicyExplanation } from '../api/apis.ts'
import { hrefOfEntity } from '../parts/entity-link.tsx'
import { numberText } from '../parts/words.ts'

/** How something stands on the way from the identity to the service. */
export type StepState = 'passed' | 'refused' | 'not-reached'

export interface PathNode {
  readonly key: string
  readonly column: number
  readonly kind: 'identities' | 'policies' | 'checks' | 'edge-routers' | 'services' | 'hosts'
  /** The address of its page; undefined unless it is an entity. */
  readonly href?: string | undefined
  readonly title: string
  readonly note: string
  readonly state: StepState
}

/** The parts of the way, in order: the column of a node is a place among them. */
export const COLUMN_NAMES = [
  'Identity',
  'Service policies',
  'Posture checks',
  'Edge routers',
  'Service',
  'Host',
] as const

export interface Path {
  readonly nodes: readonly PathNode[]
  readonly lines: readonly { readonly from: string; readonly to: string; readonly state: StepState }[]
}

/** As many of a kind are drawn, and how many more there are. */
const MOST_OF_A_KIND = 5

/** The way through policies, posture checks and edge routers: passed where it is open, refused where something fails. */
export function pathOf(explanation: Explanation): Path {
  const { identity, service, asked, type, policies, edgeRouters } = explanation
  const nodes: PathNode[] = []
  const lines: { from: string; to: string; state: StepState }[] = []
  const add = (of: readonly [key: string, column: number, PathNode['kind']], words: Words, state: StepState) => {
    const [key, column, kind] = of
    const href = words.page ? hrefOfEntity(...words.page) : undefined
    nodes.push({ key, column, kind, href, title: words.title, note: words.note ?? '', state })
  }
  const addMore = (column: number, kind: PathNode['kind'], count: number) => {
    if (count <= MOST_OF_A_KIND) return
    add([`more ${kind}`, column, kind], { title: `and ${numberText(count - MOST_OF_A_KIND)} more` }, 'not-reached')
  }
  const connect = (from: string, to: string, state: StepState) => lines.push({ from, to, state })
  const end = (key: string, column: number, kind: 'identities' | 'services', of: typeof identity, name: string) =>
    add([key, column, kind], { title: of?.name ?? name, page: of && [kind, of.id] }, of ? 'passed' : 'refused')

  end('identity', 0, 'identities', identity, asked.identity)
  const ends: { key: string; state: StepState }[] = []
  const concerned = concernedPolicies(policies.filter((one) => one.type === type || selectsBoth(one)))
  for (const policy of concerned.slice(0, MOST_OF_A_KIND)) {
    const key = `policy ${policy.id}`
    const words = { title: policy.name, note: policyNote(policy, type), page: ['service-policies', policy.id] as const }
    add([key, 1, 'policies'], words, policyState(policy))
    connect('identity', key, policy.identitySide.selects ? 'passed' : 'refused')
    if (!policy.applies) continue
    for (const { id, name, isPassing } of policy.checks.slice(0, MOST_OF_A_KIND)) {
      const checkKey = `check ${policy.id} ${id}`
      const state = isPassing ? 'passed' : 'refused'
      const note = isPassing ? 'passes' : 'fails'
      add([checkKey, 2, 'checks'], { title: name, note, page: ['posture-checks', id] }, state)
      connect(key, checkKey, state)
      ends.push({ key: checkKey, state: policy.grants ? 'passed' : 'not-reached' })
    }
    if (policy.checks.length === 0) ends.push({ key, state: 'passed' })
  }
  if (concerned.length === 0) {
    add(['no policy', 1, 'policies'], { title: 'No service policy', note: 'selects both' }, 'refused')
    connect('identity', 'no policy', 'refused')
  }
  addMore(1, 'policies', concerned.length)
  const isGranted = policies.some(({ grants }) => grants)
  for (const { id, name, isOnline } of edgeRouters.common.slice(0, MOST_OF_A_KIND)) {
    const key = `router ${id}`
    const state = isOnline ? (isGranted ? 'passed' : 'not-reached') : 'refused'
    const note = isOnline ? 'online' : 'offline'
    add([key, 3, 'edge-routers'], { title: name, note, page: ['edge-routers', id] }, state)
    for (const from of ends) connect(from.key, key, from.state === 'passed' ? state : 'not-reached')
    connect(key, 'service', isGranted ? state : 'not-reached')
  }
  addMore(3, 'edge-routers', edgeRouters.common.length)
  if (edgeRouters.common.length === 0) {
    add(['no router', 3, 'edge-routers'], { title: 'No common edge router' }, 'refused')
    for (const from of ends) connect(from.key, 'no router', 'refused')
    connect('no router', 'service', 'refused')
  }
  end('service', 4, 'services', service, asked.service)
  const host = type === 'Dial' ? hostOf(explanation) : undefined
  if (host) {
    add(['host', 5, 'hosts'], host.words, host.state)
    connect('service', 'host', host.state)
  }
  return { nodes, lines }
}

/** The words on a node, and the entity whose page it opens. */
interface Words {
  readonly title: string
  readonly note?: string
  readonly page?: readonly [kind: string, id: string] | null | undefined
}

/** Where the service leaves the network; undefined where that was not looked at. */
function hostOf({ service, hosts, reason }: Explanation): { words: Words; state: StepState } | undefined {
  if (service === null || hosts === null) return undefined
  const count = hosts.terminatorCount
  if (count === 0) {
    return { words: { title: 'Nothing hosts it', note: `${hosts.mayBindCount} may bind it` }, state: 'refused' }
  }
  const [first] = hosts.hosts
  const note = `${count} terminator${count === 1 ? '' : 's'}`
  const words = { title: first?.name ?? 'An edge router', note, page: first && (['identities', first.id] as const) }
  return { words, state: reason === 'granted' ? 'passed' : 'not-reached' }
}

/** The policies that select both. Without any, the policies that select either. */
function concernedPolicies(policies: readonly PolicyExplanation[]): readonly PolicyExplanation[] {
  const selectingBoth = policies.filter(selectsBoth)
  return selectingBoth.length > 0 ? selectingBoth : policies
}

function selectsBoth({ identitySide, serviceSide }: PolicyExplanation): boolean {
  return identitySide.selects && serviceSide.selects
}

function policyNote({ type, applies, identitySide, serviceSide }: PolicyExplanation, asked: string): string {
  if (applies) return identitySide.matched.map(({ name }) => name).join(' ')
  if (!identitySide.selects) return 'not this identity'
  if (!serviceSide.selects) return 'not this service'
  return type === asked ? '' : `grants ${type} only`
}

function policyState({ applies, grants }: PolicyExplanation): StepState {
  if (grants) return 'passed'
  return applies ? 'not-reached' : 'refused'
}
