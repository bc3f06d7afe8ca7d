import type { Explanation, PolicyExplanation } from '../api/apis.ts'
import { hrefOfEntity } from '../parts/entity-link.tsx'
import { numberText } from '../parts/words.ts'

/** How something stands on the way from the identity to the service. */
export type Light = 'lit' | 'broken' | 'dark'

export interface PathNode {
  readonly key: string
  readonly column: number
  readonly kind: 'identities' | 'policies' | 'checks' | 'edge-routers' | 'services' | 'hosts'
  /** The address of its page; undefined unless it is an entity. */
  readonly href?: string | undefined
  readonly title: string
  readonly note: string
  readonly light: Light
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

export interface PathLine {
  readonly from: string
  readonly to: string
  readonly light: Light
}

export interface Path {
  readonly nodes: readonly PathNode[]
  readonly lines: readonly PathLine[]
}

/** As many of a kind are drawn, and how many more there are. */
const MOST_OF_A_KIND = 5

/** The way through policies, posture checks and edge routers: lit where it is open, broken where something fails. */
export function pathOf(explanation: Explanation): Path {
  const { identity, service, asked, type, policies, edgeRouters } = explanation
  const start: PathNode = {
    ...node('identity', 0, 'identities', identity?.name ?? asked.identity, '', identity ? 'lit' : 'broken'),
    href: identity ? hrefOfEntity('identities', identity.id) : undefined,
  }
  const end: PathNode = {
    ...node('service', 4, 'services', service?.name ?? asked.service, '', service ? 'lit' : 'broken'),
    href: service ? hrefOfEntity('services', service.id) : undefined,
  }
  const nodes: PathNode[] = [start]
  const lines: PathLine[] = []
  const ends: { key: string; light: Light }[] = []
  const concerned = concernedPolicies(policies.filter((one) => one.type === type || selectsBoth(one)))
  for (const policy of concerned.slice(0, MOST_OF_A_KIND)) {
    const key = `policy ${policy.id}`
    const href = hrefOfEntity('service-policies', policy.id)
    nodes.push({ ...node(key, 1, 'policies', policy.name, policyNote(policy, type), policyLight(policy)), href })
    lines.push({ from: 'identity', to: key, light: policy.identitySide.selects ? 'lit' : 'broken' })
    if (!policy.applies) continue
    for (const check of policy.checks.slice(0, MOST_OF_A_KIND)) {
      const checkKey = `check ${policy.id} ${check.id}`
      const light = check.isPassing ? 'lit' : 'broken'
      const note = check.isPassing ? 'passes' : 'fails'
      nodes.push({
        ...node(checkKey, 2, 'checks', check.name, note, light),
        href: hrefOfEntity('posture-checks', check.id),
      })
      lines.push({ from: key, to: checkKey, light })
      ends.push({ key: checkKey, light: policy.grants ? 'lit' : 'dark' })
    }
    if (policy.checks.length === 0) ends.push({ key, light: 'lit' })
  }
  nodes.push(...moreOf('policies', 1, concerned.length))
  const isGranted = policies.some(({ grants }) => grants)
  const routers = edgeRouters.common.slice(0, MOST_OF_A_KIND)
  for (const router of routers) {
    const key = `router ${router.id}`
    const light = router.isOnline ? (isGranted ? 'lit' : 'dark') : 'broken'
    const note = router.isOnline ? 'online' : 'offline'
    nodes.push({
      ...node(key, 3, 'edge-routers', router.name, note, light),
      href: hrefOfEntity('edge-routers', router.id),
    })
    for (const from of ends) lines.push({ from: from.key, to: key, light: from.light === 'lit' ? light : 'dark' })
    lines.push({ from: key, to: 'service', light: isGranted ? light : 'dark' })
  }
  nodes.push(...moreOf('edge-routers', 3, edgeRouters.common.length))
  if (routers.length === 0) {
    nodes.push(node('no router', 3, 'edge-routers', 'No common edge router', '', 'broken'))
    for (const from of ends) lines.push({ from: from.key, to: 'no router', light: 'broken' })
    lines.push({ from: 'no router', to: 'service', light: 'broken' })
  }
  if (ends.length === 0 && nodes.every(({ column }) => column !== 1)) {
    nodes.push(node('no policy', 1, 'policies', 'No service policy', 'selects both', 'broken'))
    lines.push({ from: 'identity', to: 'no policy', light: 'broken' })
  }
  const host = type === 'Dial' ? hostNode(explanation) : undefined
  if (host === undefined) return { nodes: [...nodes, end], lines }
  return { nodes: [...nodes, end, host], lines: [...lines, { from: 'service', to: host.key, light: host.light }] }
}

function node(
  key: string,
  column: number,
  kind: PathNode['kind'],
  title: string,
  note: string,
  light: Light,
): PathNode {
  return { key, column, kind, title, note, light }
}

/** Where the service leaves the network; undefined where that was not looked at. */
function hostNode({ service, hosts, reason }: Explanation): PathNode | undefined {
  if (service === null || hosts === null) return undefined
  const [first] = hosts.hosts
  const count = hosts.terminatorCount
  const href = first ? hrefOfEntity('identities', first.id) : undefined
  if (count === 0)
    return { ...node('host', 5, 'hosts', 'Nothing hosts it', `${hosts.mayBindCount} may bind it`, 'broken') }
  const title = first?.name ?? 'An edge router'
  const light = reason === 'granted' ? 'lit' : 'dark'
  return { ...node('host', 5, 'hosts', title, `${count} terminator${count === 1 ? '' : 's'}`, light), href }
}

/** The policies that select both. Without any, the policies that select either. */
function concernedPolicies(policies: readonly PolicyExplanation[]): readonly PolicyExplanation[] {
  const selectingBoth = policies.filter(selectsBoth)
  return selectingBoth.length > 0 ? selectingBoth : policies
}

/** Says how many of a kind are not drawn; nothing where all are. */
function moreOf(kind: PathNode['kind'], column: number, count: number): readonly PathNode[] {
  const others = count - MOST_OF_A_KIND
  return others <= 0 ? [] : [node(`more ${kind}`, column, kind, `and ${numberText(others)} more`, '', 'dark')]
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

function policyLight({ applies, grants }: PolicyExplanation): Light {
  if (grants) return 'lit'
  return applies ? 'dark' : 'broken'
}
