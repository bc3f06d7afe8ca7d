import { useEffect, useState } from 'preact/hooks'

/** At this width the style sheets take the form of a phone, in which no drawing of two columns fits. */
const NARROW = '(max-width: 640px)'

/** Whether the window is now as narrow as a phone, where lists take the place of drawings. */
export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const onChange = () => setNarrow(query.matches)
    query.addEventListener('change', onChange)
    return () => query.removeEventListener('change', onChange)
  }, [])
  return isNarrow
}
