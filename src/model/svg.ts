import type { AccessGraph, GraphEdge, GraphGroup } from './access-graph.ts'
import { groupMembers, groupTitle } from './drawings.ts'

/** Pixels. */
const BOX = { width: 300, height: 52, gap: 16 } as const
const MARGIN = 24
const BETWEEN = 360
const HEADING = 34
/** Letters that fit into a box; SVG does not break lines. */
const MOST_LETTERS = 40

/**
 * The graph as a picture: identities on the left, services on the right, each service near the identities that reach it. Lines are dashed
 * where posture is asked for and thick where services are hosted; a line shows its policies when the pointer is over it.
 *
 * @example
 * await writeFile('access.svg', svg(accessGraph(network)))
 */
export function svg(graph: AccessGraph): string {
  const identities = graph.identities
  const services = byReach(graph)
  const rows = Math.max(identities.length, services.length, 1)
  const width = 2 * MARGIN + 2 * BOX.width + BETWEEN
  const height = 2 * MARGIN + HEADING + rows * (BOX.height + BOX.gap)
  const right = MARGIN + BOX.width + BETWEEN
  const tops = new Map([...positions(identities), ...positions(services)])
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif">`,
    '<title>Who may dial and bind what</title>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    heading(MARGIN, 'Identities'),
    heading(right, 'Services'),
    ...graph.edges.map((edge) => line(edge, tops, right)),
    ...identities.map((group) => box(group, MARGIN, tops.get(group.id) ?? 0, '#e8f0fe')),
    ...services.map((group) => box(group, right, tops.get(group.id) ?? 0, '#e6f4ea')),
    '</svg>',
  ].join('\n')}\n`
}

/** Sorts services by the middle position of the identities that reach them, so that fewer lines cross. */
function byReach({ identities, services, edges }: AccessGraph): readonly GraphGroup[] {
  const rank = new Map(identities.map(({ id }, position) => [id, position]))
  const middle = (group: GraphGroup) => {
    const ranks = edges.filter(({ to }) => to === group.id).map(({ from }) => rank.get(from) ?? 0)
    return ranks.length === 0 ? identities.length : ranks.reduce((sum, one) => sum + one, 0) / ranks.length
  }
  return services.toSorted((a, b) => middle(a) - middle(b))
}

function positions(groups: readonly GraphGroup[]): readonly (readonly [string, number])[] {
  return groups.map(({ id }, row) => [id, MARGIN + HEADING + row * (BOX.height + BOX.gap)] as const)
}

function heading(x: number, text: string): string {
  return `<text x="${x}" y="${MARGIN + 16}" font-size="16" font-weight="bold">${text}</text>`
}

function box(group: GraphGroup, x: number, y: number, fill: string): string {
  const { width, height } = BOX
  const title = `<text x="${x + 12}" y="${y + 21}" font-size="13" font-weight="bold">${shortened(groupTitle(group))}</text>`
  const members = `<text x="${x + 12}" y="${y + 40}" font-size="12" fill="#444444">${shortened(groupMembers(group))}</text>`
  const rect = `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" stroke="#5f6368"/>`
  return `<g><title>${escaped(group.members.join(', '))}</title>${rect}${title}${members}</g>`
}

function line({ from, to, type, policies, isGuarded }: GraphEdge, tops: ReadonlyMap<string, number>, right: number) {
  const x = MARGIN + BOX.width
  const y = (tops.get(from) ?? 0) + BOX.height / 2
  const end = (tops.get(to) ?? 0) + BOX.height / 2
  const bend = BETWEEN / 2
  const path = `M${x} ${y} C${x + bend} ${y} ${right - bend} ${end} ${right} ${end}`
  const dashes = isGuarded ? ' stroke-dasharray="6 4"' : ''
  const colour = type === 'Bind' ? '#137333' : '#1a73e8'
  const title = escaped(`${type}: ${policies.join(', ')}`)
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${type === 'Bind' ? 3 : 1.5}"${dashes}><title>${title}</title></path>`
}

function shortened(text: string): string {
  const letters = [...text]
  return escaped(letters.length <= MOST_LETTERS ? text : `${letters.slice(0, MOST_LETTERS - 1).join('')}…`)
}

/** Removes the characters that XML does not allow at all. */
function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/\p{Cc}/gu, ' ').replace(/[&<>"]/g, (mark) => entities[mark] ?? '')
}
