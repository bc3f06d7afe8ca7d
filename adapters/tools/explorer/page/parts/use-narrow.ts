import { useEffect, useState } from 'preact/hooks'

/** At this width the style sheets take the form of a phone, in which no drawing of two columns fits. */
const NARROW = 640

/** Whether the window is now at most `width` pixels wide, where lists take the place of drawings; as narrow as a phone unless given. */
export function useIsNarrow(width = NARROW): boolean {
  const medium = `(max-width: ${width}px)`
  const [isNarrow, setNarrow] = useState(() => matchMedia(medium).matches)
  useEffect(() => {
    const query = matchMedia(medium)
    const onChange = () => setNarrow(query.matches)
    query.addEventListener('change', onChange)
    // The width may have changed before anything listened.
    onChange()
    return () => query.removeEventListener('change', onChange)
  }, [medium])
  return isNarrow
}
