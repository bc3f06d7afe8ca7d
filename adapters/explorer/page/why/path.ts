import type { Explanation, PolicyExplanation } from '../api/explanation.ts'

/** How something stands on the way from the identity to the service. */
export type Light = 'lit' | 'broken' | 'dark'

export interface PathNode {
  readonly key: string
  readonly column: number
  readonly kind: 'identities' | 'policies' | 'checks' | 'edge-routers' | 'services'
  readonly title: string
  readonly note: string
  readonly light: Light
}

export interface PathLine {
  readonly from: string
  readonly to: string
  readonly light: Light
}

export interface Path {
  readonly nodes: readonly PathNode[]
  readonly lines: readonly PathLine[]
}

/** As many of a kind are drawn; the sentences beside tell all of them. */
const MOST_OF_A_KIND = 5

/** The way through policies, posture checks and edge routers: lit where it is open, broken where something fails. */
export function pathOf(explanation: Explanation): Path {
  const { identity, service, asked, type, policies, edgeRouters } = explanation
  const start: PathNode = node(
    'identity',
    0,
    'identities',
    identity?.name ?? asked.identity,
    '',
    identity ? 'lit' : 'broken',
  )
  const end: PathNode = node('service', 4, 'services', service?.name ?? asked.service, '', service ? 'lit' : 'broken')
  const nodes: PathNode[] = [start]
  const lines: PathLine[] = []
  const ends: { key: string; light: Light }[] = []
  for (const policy of shownPolicies(policies)) {
    const key = `policy ${policy.id}`
    nodes.push(node(key, 1, 'policies', policy.name, policyNote(policy, type), policyLight(policy)))
    lines.push({ from: 'identity', to: key, light: policy.identitySide.selects ? 'lit' : 'broken' })
    if (!policy.applies) continue
    for (const check of policy.checks.slice(0, MOST_OF_A_KIND)) {
      const checkKey = `check ${policy.id} ${check.id}`
      const light = check.isPassing ? 'lit' : 'broken'
      nodes.push(node(checkKey, 2, 'checks', check.name, check.isPassing ? 'passes' : 'fails', light))
      lines.push({ from: key, to: checkKey, light })
      ends.push({ key: checkKey, light: policy.grants ? 'lit' : 'dark' })
    }
    if (policy.checks.length === 0) ends.push({ key, light: 'lit' })
  }
  const isGranted = policies.some(({ grants }) => grants)
  const routers = edgeRouters.common.slice(0, MOST_OF_A_KIND)
  for (const router of routers) {
    const key = `router ${router.id}`
    const light = router.isOnline ? (isGranted ? 'lit' : 'dark') : 'broken'
    nodes.push(node(key, 3, 'edge-routers', router.name, router.isOnline ? 'online' : 'offline', light))
    for (const from of ends) lines.push({ from: from.key, to: key, light: from.light === 'lit' ? light : 'dark' })
    lines.push({ from: key, to: 'service', light: isGranted ? light : 'dark' })
  }
  if (routers.length === 0) {
    nodes.push(node('no router', 3, 'edge-routers', 'No common edge router', '', 'broken'))
    for (const from of ends) lines.push({ from: from.key, to: 'no router', light: 'broken' })
    lines.push({ from: 'no router', to: 'service', light: 'broken' })
  }
  if (ends.length === 0 && nodes.every(({ column }) => column !== 1)) {
    nodes.push(node('no policy', 1, 'policies', 'No service policy', 'selects both', 'broken'))
    lines.push({ from: 'identity', to: 'no policy', light: 'broken' })
  }
  return { nodes: [...nodes, end], lines }
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

/** Those that select both, and where there are none, those that select one of the two. */
function shownPolicies(policies: readonly PolicyExplanation[]): readonly PolicyExplanation[] {
  const selectingBoth = policies.filter(({ identitySide, serviceSide }) => identitySide.selects && serviceSide.selects)
  return (selectingBoth.length > 0 ? selectingBoth : policies).slice(0, MOST_OF_A_KIND)
}

function policyNote({ type, applies, identitySide, serviceSide }: PolicyExplanation, asked: string): string {
  if (applies) return identitySide.matched.map(({ name }) => name).join(' ')
  if (!identitySide.selects) return 'does not select the identity'
  if (!serviceSide.selects) return 'does not select the service'
  return type === asked ? '' : `grants ${type} only`
}

function policyLight({ applies, grants }: PolicyExplanation): Light {
  if (grants) return 'lit'
  return applies ? 'dark' : 'broken'
}
