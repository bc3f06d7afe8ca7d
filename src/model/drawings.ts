import type { AccessGraph, GraphGroup } from './access-graph.ts'

/**
 * The graph in the language of Graphviz; edges are dashed where posture is asked for and bold where services are hosted.
 *
 * @example
 * await writeFile('access.dot', dot(accessGraph(network)))
 */
export function dot({ identities, services, edges }: AccessGraph): string {
  const lines = ['digraph access {', '  rankdir=LR', '  dotNode [shape=box, fontname="sans-serif"]']
  lines.push('  subgraph cluster_identities {', '    label="identities"', ...identities.map(dotNode), '  }')
  lines.push('  subgraph cluster_services {', '    label="services"', ...services.map(dotNode), '  }')
  for (const { from, to, type, policies, isGuarded } of edges) {
    const style = isGuarded ? 'dashed' : type === 'Bind' ? 'bold' : 'solid'
    lines.push(`  ${from} -> ${to} [label=${quoted(`${type}: ${policies.join(', ')}`)}, style=${style}]`)
  }
  return `${[...lines, '}'].join('\n')}\n`
}

function dotNode(group: GraphGroup): string {
  return `    ${group.id} [label=${quoted(`${groupTitle(group)}\n${groupMembers(group)}`)}]`
}

function quoted(text: string): string {
  return `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, ' ')}"`
}

/**
 * The graph as a Mermaid flowchart: identities on the left, services on the right, dashed where posture is asked for and
 * bold where services are hosted.
 *
 * @example
 * await writeFile('access.mmd', mermaid(accessGraph(network)))
 */
export function mermaid({ identities, services, edges }: AccessGraph): string {
  const lines = ['flowchart LR']
  lines.push('  subgraph identities', ...identities.map((group) => `    ${mermaidNode(group, '(', ')')}`), '  end')
  lines.push('  subgraph services', ...services.map((group) => `    ${mermaidNode(group, '[', ']')}`), '  end')
  for (const { from, to, type, policies, isGuarded } of edges) {
    const arrow = isGuarded ? '-.->' : type === 'Bind' ? '==>' : '-->'
    lines.push(`  ${from} ${arrow}|"${escaped(`${type}: ${policies.join(', ')}`)}"| ${to}`)
  }
  return `${lines.join('\n')}\n`
}

function mermaidNode(group: GraphGroup, open: string, close: string): string {
  return `${group.id}${open}"${escaped(groupTitle(group))}<br/>${escaped(groupMembers(group))}"${close}`
}

/** Writes characters that would end a text or be markup as entities of Mermaid. */
function escaped(text: string): string {
  return text.replace(/[#"<>&;\\`|\p{Cc}]/gu, (mark) => `#${mark.codePointAt(0)};`)
}

/** Members that are named; further members are only counted. */
const MOST_NAMED = 4

/** The role attributes of a group, as `#employees #office`. */
export function groupTitle({ roleAttributes }: GraphGroup): string {
  return roleAttributes.length === 0 ? 'no role attribute' : roleAttributes.map((one) => `#${one}`).join(' ')
}

/** The members of a group, the first of them by name. */
export function groupMembers({ members }: GraphGroup): string {
  const rest = members.length - MOST_NAMED
  if (rest <= 0) return members.join(', ')
  return `${members.slice(0, MOST_NAMED).join(', ')} and ${rest} more`
}
