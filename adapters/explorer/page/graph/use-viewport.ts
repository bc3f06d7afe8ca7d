import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Layout } from './layout.ts'

const LEAST = 0.25
const MOST = 2
const STEP = 1.25

/** How small a drawing is made so that all of it is seen; a taller one is scrolled instead. */
const LEAST_WHOLE = 0.8

/** How small a drawing is made so that its columns are seen; smaller than this nobody reads it. */
const LEAST_FITTED = 0.62

export interface Viewport {
  readonly frame: RefObject<HTMLDivElement | null>
  readonly scale: number
  readonly zoomIn: () => void
  readonly zoomOut: () => void
  readonly showWhole: () => void
  /** Zooms by a key; answers whether the key was one of those. */
  readonly onKey: (key: string) => boolean
  readonly dragging: {
    readonly onPointerDown: (event: PointerEvent) => void
    readonly onPointerMove: (event: PointerEvent) => void
  }
}

/** A drawing in a frame that scrolls: dragging pans, the wheel with Ctrl and pinching zoom about the pointer. */
export function useViewport({ width, height }: Layout): Viewport {
  const frame = useRef<HTMLDivElement>(null)
  const [scale, setScale] = useState(1)
  const isFitted = useRef(true)
  const showWhole = () => {
    isFitted.current = true
    const { clientWidth = 0, clientHeight = 0 } = frame.current ?? {}
    const whole = Math.min(clientWidth / width, clientHeight / height)
    const wanted = whole >= LEAST_WHOLE ? whole : Math.max(clientWidth / width, LEAST_FITTED)
    setScale(Math.min(1, wanted))
  }
  useEffect(() => {
    showWhole()
    // A panel that opens beside the drawing leaves less room for it.
    const watched = new ResizeObserver(() => isFitted.current && showWhole())
    if (frame.current) watched.observe(frame.current)
    return () => watched.disconnect()
  }, [width, height])
  useEffect(() => {
    const { current } = frame
    const onWheel = (event: WheelEvent) => {
      if (current === null || !event.ctrlKey) return
      event.preventDefault()
      isFitted.current = false
      setScale((before) => about(current, event, before, bounded(before * Math.exp(-event.deltaY / 250))))
    }
    // Registered by hand, because the browser must know that it may be prevented.
    current?.addEventListener('wheel', onWheel, { passive: false })
    return () => current?.removeEventListener('wheel', onWheel)
  }, [])
  const zoom = (factor: number) => {
    isFitted.current = false
    setScale((before) => bounded(before * factor))
  }
  const zoomIn = () => zoom(STEP)
  const zoomOut = () => zoom(1 / STEP)
  return {
    frame,
    scale,
    zoomIn,
    zoomOut,
    showWhole,
    onKey: (key) => {
      const act = { '+': zoomIn, '=': zoomIn, '-': zoomOut, '0': showWhole }[key]
      act?.()
      return act !== undefined
    },
    dragging: {
      // Touch scrolls by itself.
      onPointerDown: (event) => {
        if (event.pointerType === 'mouse' && event.button === 0) frame.current?.classList.add('is-dragged')
      },
      onPointerMove: (event) => {
        const isHeld = event.pointerType === 'mouse' && (event.buttons & 1) === 1
        frame.current?.classList.toggle('is-dragged', isHeld)
        if (isHeld) frame.current?.scrollBy(-event.movementX, -event.movementY)
      },
    },
  }
}

function bounded(scale: number): number {
  return Math.min(MOST, Math.max(LEAST, scale))
}

/** Scrolls so that what is under the pointer stays there, and answers the new scale. */
function about(frame: HTMLElement, { clientX, clientY }: WheelEvent, before: number, after: number): number {
  const { left, top } = frame.getBoundingClientRect()
  const [x, y] = [clientX - left, clientY - top]
  const ratio = after / before
  requestAnimationFrame(() => {
    frame.scrollTo((frame.scrollLeft + x) * ratio - x, (frame.scrollTop + y) * ratio - y)
  })
  return after
}
