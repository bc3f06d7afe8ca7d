import type { GroupKind } from '../api/graph-rows.ts'

/** A placed box of a column, as high as its content. */
export interface Box {
  readonly key: string
  readonly kind: GroupKind
  readonly height: number
  /** How much it draws those that it is connected with. */
  readonly weight: number
}

/** The line between two boxes. */
export interface Line {
  readonly from: string
  readonly to: string
}

/** Where a box is, in pixels from the upper left corner of the drawing. */
export interface Placed {
  readonly x: number
  readonly y: number
}

export interface Layout {
  readonly places: ReadonlyMap<string, Placed>
  /** The columns that hold a box, with their left edges. */
  readonly columns: readonly { readonly kind: GroupKind; readonly x: number }[]
  readonly width: number
  readonly height: number
}

export const BOX_WIDTH = 260
const COLUMN_GAP = 210
const ROW_GAP = 7
const MARGIN = 28
/** Where boxes begin, below the names of the columns. */
const TOP = 40
const COLUMNS: readonly GroupKind[] = ['identities', 'services', 'edge-routers']

/** Rounds after which the order of columns hardly changes any more. */
const ROUNDS = 12

/**
 * Places boxes in a column for each kind, next to what they are connected with: each round orders a column by the mean place of
 * the neighbours, which leaves few lines that cross.
 */
export function layOut(boxes: readonly Box[], lines: readonly Line[]): Layout {
  const neighbours = neighboursOf(boxes, lines)
  const columns = COLUMNS.map((kind) => boxes.filter((box) => box.kind === kind)).filter(({ length }) => length > 0)
  const middles = new Map<string, number>()
  for (const column of columns) stack(column, middles)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const column of round % 2 === 0 ? columns : columns.toReversed()) {
      const wanted = new Map(column.map(({ key }) => [key, pull(key, neighbours, middles)]))
      column.sort((a, b) => (wanted.get(a.key) ?? 0) - (wanted.get(b.key) ?? 0))
      stack(column, middles)
    }
  }
  const heights = columns.map(heightOf)
  const tallest = Math.max(0, ...heights)
  const places = columns.flatMap((column, number) => {
    const x = MARGIN + number * (BOX_WIDTH + COLUMN_GAP)
    const top = TOP + (tallest - (heights[number] ?? 0)) / 2
    let y = top
    return column.map(({ key, height }): [string, Placed] => {
      const place = { x, y }
      y += height + ROW_GAP
      return [key, place]
    })
  })
  const heads = columns.flatMap(([first], number) =>
    first ? [{ kind: first.kind, x: MARGIN + number * (BOX_WIDTH + COLUMN_GAP) }] : [],
  )
  const width = 2 * MARGIN + columns.length * BOX_WIDTH + Math.max(0, columns.length - 1) * COLUMN_GAP
  return { places: new Map(places), columns: heads, width, height: TOP + tallest + MARGIN }
}

/** Writes down the middle of each box of a column, measured from the middle of the column. */
function stack(column: readonly Box[], middles: Map<string, number>): void {
  let y = -heightOf(column) / 2
  for (const { key, height } of column) {
    middles.set(key, y + height / 2)
    y += height + ROW_GAP
  }
}

function pull(key: string, neighbours: ReadonlyMap<string, readonly Box[]>, middles: ReadonlyMap<string, number>) {
  let [sum, weight] = [0, 0]
  for (const neighbour of neighbours.get(key) ?? []) {
    sum += (middles.get(neighbour.key) ?? 0) * neighbour.weight
    weight += neighbour.weight
  }
  return weight === 0 ? (middles.get(key) ?? 0) : sum / weight
}

function neighboursOf(boxes: readonly Box[], lines: readonly Line[]): ReadonlyMap<string, readonly Box[]> {
  const byKey = new Map(boxes.map((box) => [box.key, box]))
  const found = new Map<string, Box[]>(boxes.map(({ key }) => [key, []]))
  for (const { from, to } of lines) {
    const [one, other] = [byKey.get(from), byKey.get(to)]
    if (one === undefined || other === undefined) continue
    found.get(from)?.push(other)
    found.get(to)?.push(one)
  }
  return found
}

function heightOf(column: readonly Box[]): number {
  return column.reduce((sum, { height }) => sum + height + ROW_GAP, -ROW_GAP)
}
