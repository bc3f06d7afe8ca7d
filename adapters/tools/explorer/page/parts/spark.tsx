const SIZE = { width: 96, height: 22 } as const

/** A small line of numbers over time, the earliest first. Its words say the same to readers who do not see it. */
export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(...values, 1)
  const x = (place: number) => (place / Math.max(values.length - 1, 1)) * SIZE.width
  const y = (value: number) => SIZE.height - 2 - (value / most) * (SIZE.height - 4)
  const line = values.map((value, place) => `${place === 0 ? 'M' : 'L'}${x(place).toFixed(1)} ${y(value).toFixed(1)}`)
  return (
    <svg class="spark" viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} role="img" aria-label={label}>
      <title>{label}</title>
      <path class="spark-area" d={`${line.join('')}L${SIZE.width} ${SIZE.height}L0 ${SIZE.height}Z`} />
      <path class="spark-line" d={line.join('')} />
    </svg>
  )
}
