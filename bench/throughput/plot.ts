/** A line of a plot: a value for each place of the axis below. */
export interface PlotLine {
  readonly name: string
  readonly values: readonly number[]
}

const WIDTH = 900
const HEIGHT = 420
const LEFT = 60
const RIGHT = 330
const TOP = 40
const BOTTOM = 50
const COLOURS = [
  '#6b7280',
  '#2563eb',
  '#0f766e',
  '#b45309',
  '#dc2626',
  '#7c3aed',
  '#0891b2',
  '#4d7c0f',
  '#be185d',
  '#374151',
]
const DASHES = ['', '6 3', '2 3']

/** A plot of lines as SVG, both axes in powers of two. Lines are told apart by colour and by dashes. */
export function plotOf(title: string, places: readonly number[], unit: string, lines: readonly PlotLine[]): string {
  const all = lines.flatMap(({ values }) => values).filter((value) => value > 0)
  const [least, most] = [Math.floor(Math.log2(Math.min(...all))), Math.ceil(Math.log2(Math.max(...all)))]
  const x = (place: number) => LEFT + ((WIDTH - LEFT - RIGHT) * place) / (places.length - 1)
  const y = (value: number) => TOP + ((HEIGHT - TOP - BOTTOM) * (most - Math.log2(value))) / Math.max(1, most - least)
  const text = (atX: number, atY: number, words: string, more = '') =>
    `<text x="${atX.toFixed(1)}" y="${atY.toFixed(1)}" ${more}>${words}</text>`
  const grid = Array.from({ length: most - least + 1 }, (_, index) => 2 ** (least + index)).map((value) => {
    const line = `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}" stroke="#d1d5db"/>`
    return line + text(LEFT - 8, y(value) + 4, String(value), 'text-anchor="end"')
  })
  const below = places.map((place, index) =>
    text(x(index), HEIGHT - BOTTOM + 18, String(place), 'text-anchor="middle"'),
  )
  const drawn = lines.map(({ name, values }, index) => {
    const look = `stroke="${COLOURS[index % COLOURS.length]}" stroke-dasharray="${DASHES[index % DASHES.length]}"`
    const points = values.map((value, place) => `${x(place).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
    const legendY = TOP + 10 + index * 22
    const sample = `<line x1="${WIDTH - RIGHT + 16}" x2="${WIDTH - RIGHT + 46}" y1="${legendY}" y2="${legendY}" ${look} stroke-width="2"/>`
    const polyline = `<polyline fill="none" stroke-width="2" ${look} points="${points}"/>`
    return polyline + sample + text(WIDTH - RIGHT + 52, legendY + 4, name)
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#111827">`,
    `<title>${title}, ${unit}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(LEFT, 22, `${title} (${unit})`, 'font-size="14" font-weight="bold"'),
    ...grid,
    ...below,
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, 'streams', 'text-anchor="middle"'),
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}
