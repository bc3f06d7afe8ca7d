import { type Box, type Line, layOut } from './layout.ts'

/** The question of the page to the worker: a layout, by a number that stands in the answer. */
export interface LayoutQuestion {
  readonly number: number
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
}

addEventListener('message', ({ data }: MessageEvent<LayoutQuestion>) => {
  postMessage({ number: data.number, layout: layOut(data.boxes, data.lines) })
})
