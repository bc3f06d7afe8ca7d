/** The name among some that is most like another, when it is near enough to be meant; undefined otherwise. */
export function nearest(name: string, names: Iterable<string>): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), 3)
    if (distance <= Math.max(1, Math.floor(name.length / 3)) && distance < (best?.distance ?? 4)) {
      best = { name: candidate, distance }
    }
  }
  return best?.name
}

/** ` (did you mean 'payroll'?)`, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const meant = nearest(name, names)
  return meant === undefined ? '' : ` (did you mean '${meant}'?)`
}

/** How many letters have to be added, taken or changed to make one text of another; more than `most` counts as more. */
function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let before = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...one].entries()) {
    const row = [i + 1]
    for (const [j, candidate] of [...other].entries()) {
      const replaced = (before[j] ?? 0) + (letter === candidate ? 0 : 1)
      row.push(Math.min(replaced, (before[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
    before = row
  }
  return before.at(-1) ?? 0
}
