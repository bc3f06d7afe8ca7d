/** Lays out rows under a header, as wide as their widest cell; a cell that repeats the one above in column one is left out. */
export function tableLines(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join('──')
  const grouped = rows.map(([first = '', ...rest], position) =>
    rows[position - 1]?.[0] === first ? ['', ...rest] : [first, ...rest],
  )
  return [line(header), rule, ...grouped.map(line)]
}
