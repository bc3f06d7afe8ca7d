import type { AccessGraph, GraphGroup } from './access-graph.ts'
import { groupMembers, groupTitle } from './group-text.ts'

/**
 * The graph as a Mermaid flowchart: identities on the left, services on the right, dashed where posture is asked for and
 * bold where services are hosted.
 *
 * @example
 * await writeFile('access.mmd', mermaid(accessGraph(network)))
 */
export function mermaid({ identities, services, edges }: AccessGraph): string {
  const lines = ['flowchart LR']
  lines.push('  subgraph identities', ...identities.map((group) => `    ${node(group, '(', ')')}`), '  end')
  lines.push('  subgraph services', ...services.map((group) => `    ${node(group, '[', ']')}`), '  end')
  for (const { from, to, type, policies, isGuarded } of edges) {
    const arrow = isGuarded ? '-.->' : type === 'Bind' ? '==>' : '-->'
    lines.push(`  ${from} ${arrow}|"${escaped(`${type}: ${policies.join(', ')}`)}"| ${to}`)
  }
  return `${lines.join('\n')}\n`
}

function node(group: GraphGroup, open: string, close: string): string {
  return `${group.id}${open}"${escaped(groupTitle(group))}<br/>${escaped(groupMembers(group))}"${close}`
}

/** Mermaid takes entities for what would end a text or be markup. */
function escaped(text: string): string {
  return text.replace(/[#"<>&;\\`|\p{Cc}]/gu, (mark) => `#${mark.codePointAt(0)};`)
}
