import { useEffect, useState } from 'preact/hooks'

/** Counts up at intervals while the page is in sight: for answers that change without an event. */
export function useEvery(ms: number): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setCount((before) => before + 1)
    }, ms)
    return () => clearInterval(timer)
  }, [ms])
  return count
}
