import { useEffect, useState } from 'preact/hooks'

/** The pause in typing after which the user waits for an answer, in milliseconds. */
const PAUSE_MS = 150

/** A value that changes while the user types, as soon as it has stayed the same for a moment. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
