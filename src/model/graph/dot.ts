import type { AccessGraph, GraphGroup } from './access-graph.ts'
import { groupMembers, groupTitle } from './group-text.ts'

/**
 * The graph in the language of Graphviz; edges are dashed where posture is asked for and bold where services are hosted.
 *
 * @example
 * await writeFile('access.dot', dot(accessGraph(network)))
 */
export function dot({ identities, services, edges }: AccessGraph): string {
  const lines = ['digraph access {', '  rankdir=LR', '  node [shape=box, fontname="sans-serif"]']
  lines.push('  subgraph cluster_identities {', '    label="identities"', ...identities.map(node), '  }')
  lines.push('  subgraph cluster_services {', '    label="services"', ...services.map(node), '  }')
  for (const { from, to, type, policies, isGuarded } of edges) {
    const style = isGuarded ? 'dashed' : type === 'Bind' ? 'bold' : 'solid'
    lines.push(`  ${from} -> ${to} [label=${quoted(`${type}: ${policies.join(', ')}`)}, style=${style}]`)
  }
  return `${[...lines, '}'].join('\n')}\n`
}

function node(group: GraphGroup): string {
  return `    ${group.id} [label=${quoted(`${groupTitle(group)}\n${groupMembers(group)}`)}]`
}

function quoted(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, ' ')}"`
}
