/** A gate that only so many may have passed at a time; the others wait in the order they came. */
export interface Turnstile {
  /** Calls `onTurn` once there is a place, perhaps at once. The function returned gives the place, or the wait, up. */
  enter(onTurn: () => void): () => void
}

/** A turnstile with room for `places` at a time. */
export function createTurnstile(places: number): Turnstile {
  const inside = new Set<() => void>()
  const waiting = new Set<() => void>()

  const admit = () => {
    for (const onTurn of waiting) {
      if (inside.size >= places) return
      waiting.delete(onTurn)
      inside.add(onTurn)
      onTurn()
    }
  }

  return {
    enter(onTurn) {
      const visitor = () => onTurn()
      waiting.add(visitor)
      admit()
      return () => {
        waiting.delete(visitor)
        if (inside.delete(visitor)) admit()
      }
    },
  }
}
